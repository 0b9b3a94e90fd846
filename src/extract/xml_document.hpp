// XML as a tree of JSON, so that everything that reads JSON reads it too. An element is an object:
// its attributes as "@name", its text as "#text", its children as lists under their names. No DTD
// is read, no entity but the five of XML is known, nothing is fetched.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace pollux::extract {

struct XmlLimits {
    std::size_t max_bytes = 4U << 20U;
    std::size_t max_depth = 60;
    std::size_t max_nodes = 200'000;
};

// <a x="1"><b>2</b></a> becomes {"a": [{"@x": "1", "b": [{"#text": "2"}]}]}. Names lose their
// namespace prefix. Errors xml.invalid, xml.too_large.
base::Result<std::string> xml_to_json(std::string_view text, const XmlLimits& limits = {});

// A path into XML as the JSONPath that finds the same:
//     root/disk/@status   //disk   disk[@id='sd1']/size   disk[2]   */name   .   @id
// With `leaf` it finds the text of the element it ends at. Error xml_path.invalid.
base::Result<std::string> xml_path_to_json_path(std::string_view path, bool leaf);

}  // namespace pollux::extract
