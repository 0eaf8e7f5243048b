// What routes answer, for /openapi.json.
#include "embedding.h"

BEGIN(answers_txt)
#embed "../APIDescription/answers.txt" suffix(, 0)
END(answers_txt)
