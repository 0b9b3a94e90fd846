// One GET as any client would make it, for tests that look at pages. Blocks; bounded in time.
#pragma once

#include <string>

namespace pollux::live {

struct WebAnswer {
    int status = 0;  // 0: no answer
    std::string body;
    std::string problem;  // why there is none
};

// `login` is "user:password" for basic authentication; empty: none.
WebAnswer web_get(const std::string& url, const std::string& login = "");

}  // namespace pollux::live
