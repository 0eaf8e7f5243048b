// What routes answer, for /openapi.json.
#include "embedding.h"

BEGIN(answers_txt)
#embed "../APIDescription/answers.txt" suffix(, 0)
END(answers_txt)

BEGIN(refusals_txt)
#embed "../APIDescription/refusals.txt" suffix(, 0)
END(refusals_txt)
