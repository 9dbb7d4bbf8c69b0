// How the simulator calls a kernel: with the address of its parameter block, which the kernel takes by value.
template <class P> struct Unqualified_ { typedef P type; };
template <class P> struct Unqualified_<const P> { typedef P type; };
template <class P> constexpr u64 parameter_bytes_(void (*)(P)) { return sizeof(P); }
template <class P> void call_(void (*kernel)(P), const void* parameters) { kernel(*static_cast<const typename Unqualified_<P>::type*>(parameters)); }
#define TILEWRIGHT_ENTRY(kernel) \
  extern "C" void tilewright_enter_##kernel(const void* parameters) { call_(kernel, parameters); } \
  extern "C" const u64 tilewright_parameter_bytes_##kernel = parameter_bytes_(kernel);
