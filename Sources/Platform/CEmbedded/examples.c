// The routes' example answers, for /openapi.json.
#include "embedding.h"

BEGIN(answers_txt)
#embed "../../Operations/APIDescription/answers.txt" suffix(, 0)
END(answers_txt)

BEGIN(refusals_txt)
#embed "../../Operations/APIDescription/refusals.txt" suffix(, 0)
END(refusals_txt)
