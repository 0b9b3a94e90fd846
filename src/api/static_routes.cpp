// The dashboard: what browsers load before anybody has logged in. These rows are no operations of
// the API, so they are added behind its description.
#include <memory>

#include "api/routes.hpp"
#include "api/static_files.hpp"

namespace pollux::api {
namespace {

using access::Area;
using access::RateClass;

void answer(const StaticFile* file, Call call) {
    if (file == nullptr) {
        return call.problem(
            not_found("there is no such file; load the page again if it is open "
                      "since before an upgrade"));
    }
    const std::string_view accepted = call.request.header("Accept-Encoding").value_or("");
    call.send(static_response(*file, accepted));
}

Route static_route(std::string_view path) {
    Route route;
    route.method = "GET";
    route.path = path;
    route.area = Area::kSystem;
    route.open = true;
    route.any_query = true;
    route.rate = RateClass::kPublic;
    return route;
}

}  // namespace

void add_static_routes(std::vector<Route>& routes, std::shared_ptr<const StaticFiles> files) {
    for (const StaticFile& file : files->files()) {
        if (file.hashed()) continue;
        Route route = static_route(file.path);
        route.handler = [files, path = file.path](Call call) {
            answer(files->find(path), std::move(call));
        };
        routes.push_back(std::move(route));
    }
    Route assets = static_route("/assets/{file}");
    assets.handler = [files](Call call) {
        const std::string path = "/assets/" + std::string(call.parameter("file"));
        answer(files->find(path), std::move(call));
    };
    routes.push_back(std::move(assets));
}

}  // namespace pollux::api
