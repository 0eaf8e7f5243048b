// Types and constants only: the library is loaded when it is first needed, and its functions are found by name.
#include <qrencode.h>
