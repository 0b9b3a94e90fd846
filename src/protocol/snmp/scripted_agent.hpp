// An agent for tests: answers from a table, correctly, with limits and faults to order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "protocol/snmp/pdu.hpp"

namespace pollux::protocol::snmp {

struct ScriptedAgent {
    std::map<model::Oid, model::SnmpValue> table;
    bool version_one = false;
    std::size_t max_varbinds = 1000;     // of an answer; more is tooBig
    std::size_t most_rows = 1000;        // of a bulk answer; it is cut there, anywhere in a row
    std::size_t answers_at_most = 1000;  // variables of a GET; the rest is left out
    std::uint32_t requests = 0;
    std::size_t largest_request = 0;  // variables

    void add(std::string_view oid, std::int64_t number) {
        model::SnmpValue value;
        value.type = model::SnmpType::kInteger;
        value.integer = number;
        table[*model::parse_oid(oid)] = value;
    }

    Pdu answer(const Pdu& request) {
        ++requests;
        largest_request = std::max(largest_request, request.varbinds.size());
        Pdu response;
        response.type = PduType::kResponse;
        response.request_id = request.request_id;
        response.varbinds = request.varbinds;
        if (request.type == PduType::kGetBulk) {
            answer_bulk(request, response);
        } else {
            answer_each(request, response);
        }
        if (response.varbinds.size() > max_varbinds) {
            response.error_status = static_cast<std::int32_t>(ErrorStatus::kTooBig);
            response.varbinds.clear();
        }
        if (response.varbinds.size() > answers_at_most) response.varbinds.resize(answers_at_most);
        return response;
    }

  private:
    Varbind next_after(const model::Oid& oid) const {
        const auto found = table.upper_bound(oid);
        if (found != table.end()) return {found->first, found->second};
        Varbind end{oid, {}};
        end.value.type = model::SnmpType::kEndOfMibView;
        return end;
    }

    Varbind exactly(const model::Oid& oid) const {
        const auto found = table.find(oid);
        if (found != table.end()) return {found->first, found->second};
        Varbind missing{oid, {}};
        missing.value.type = model::SnmpType::kNoSuchObject;
        return missing;
    }

    void answer_each(const Pdu& request, Pdu& response) const {
        for (std::size_t i = 0; i < request.varbinds.size(); ++i) {
            const model::Oid& oid = request.varbinds[i].oid;
            Varbind found = request.type == PduType::kGet ? exactly(oid) : next_after(oid);
            if (version_one && !found.value.exists()) {
                response.error_status = static_cast<std::int32_t>(ErrorStatus::kNoSuchName);
                response.error_index = static_cast<std::int32_t>(i + 1);
                response.varbinds = request.varbinds;
                return;
            }
            response.varbinds[i] = std::move(found);
        }
    }

    void answer_bulk(const Pdu& request, Pdu& response) const {
        response.varbinds.clear();
        std::vector<Varbind> row = request.varbinds;
        for (std::int32_t i = 0; i < request.error_index; ++i) {
            for (Varbind& cell : row) {
                if (response.varbinds.size() == most_rows) return;
                cell = next_after(cell.oid);
                response.varbinds.push_back(cell);
            }
        }
    }
};

}  // namespace pollux::protocol::snmp
