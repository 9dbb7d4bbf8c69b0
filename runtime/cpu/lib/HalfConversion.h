/* Conversions of 16-bit floats for x86 processors without F16C, as compiled code calls them. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* Compiled code passes a half in the low 16 bits of a vector register, as a float is passed; so these take and return it
   inside a float, whose upper half is not defined. */
float tilewrightExtendHalf(float half);
float tilewrightTruncateToHalf(float value);

#ifdef __cplusplus
}
#endif
