// Divisions of integers that C++ does not spell.

// Rounded towards minus infinity, and towards infinity.
template <class T> DEV T floor_div(T a, T b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }
template <class T> DEV T ceil_div(T a, T b) { return a / b + (a % b != 0 && (a < 0) == (b < 0)); }
