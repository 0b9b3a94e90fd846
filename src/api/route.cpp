#include "api/route.hpp"

namespace pollux::api {

Parameter limit_parameter() {
    return {.name = "limit",
            .type = ParameterType::kInteger,
            .description = "How many entries one page has at most.",
            .least = 1,
            .most = 1000,
            .standard = "100",
            .example = "50"};
}

Parameter cursor_parameter() {
    return {.name = "cursor", .description = "Where the page begins: `next` of the page before."};
}

}  // namespace pollux::api
