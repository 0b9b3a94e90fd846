#include "net/http_client.hpp"

#include <curl/curl.h>
#include <fmt/format.h>

#include <unordered_map>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "net/curl_setup.hpp"
#include "net/http_failure.hpp"
#include "net/http_hosts.hpp"
#include "net/http_outcome.hpp"
#include "net/http_redirect.hpp"
#include "net/http_transfer.hpp"

namespace pollux::net {
namespace {

constexpr base::Duration kSweepInterval = std::chrono::seconds(30);

void initialise_libcurl() {
    static const CURLcode code = curl_global_init(CURL_GLOBAL_DEFAULT);
    POLLUX_CHECK_MSG(code == CURLE_OK, "libcurl cannot be used");
}

}  // namespace

class HttpClient::Impl {
  public:
    Impl(EventLoop& loop, Resolver& resolver, std::shared_ptr<const EgressPolicy> egress,
         HttpClientOptions options)
        : options_(std::move(options)),
          surroundings_{.loop = loop,
                        .resolver = resolver,
                        .options = options_,
                        .egress = std::move(egress),
                        .trust = {}},
          hosts_(loop, options_, [this](void* easy, int code) { on_finished(easy, code); }),
          report_timer_(loop, [this] { report(); }),
          sweep_timer_(loop, [this] { sweep(); }) {
        surroundings_.sockets = &hosts_.sockets();
    }

    ~Impl() {
        for (const auto& [id, transfer] : by_id_) {
            if (transfer->ticket != 0) surroundings_.resolver.cancel(transfer->ticket);
            leave_shard(*transfer);
        }
    }
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    void start(HttpOrder order, Done done);
    void cancel(std::uint64_t id);
    std::size_t in_flight() const { return by_id_.size(); }
    void set_egress(std::shared_ptr<const EgressPolicy> egress) {
        surroundings_.egress = std::move(egress);
        hosts_.renew();
    }
    HttpClientCounts counts() const {
        HttpClientCounts counts = counts_;
        counts.hosts = hosts_.hosts();
        counts.shards = hosts_.shards();
        counts.idle_handles = idle_.size();
        return counts;
    }

  private:
    std::unique_ptr<HttpTransfer> take_handle();
    bool accept(HttpTransfer& transfer);
    base::Result<std::shared_ptr<const HttpUrl>> url_of(const model::HttpAsk& ask);
    void request(HttpTransfer& transfer);
    void send(HttpTransfer& transfer);
    void on_finished(void* easy, int code);
    bool follow(HttpTransfer& transfer);
    void leave_shard(HttpTransfer& transfer);
    void finish_later(HttpTransfer& transfer);
    void finish(HttpTransfer& transfer);
    void report();
    void sweep();

    HttpClientOptions options_;
    HttpTransfer::Surroundings surroundings_;
    // Before what libcurl knows of them, so that they go after it: its sockets are closed last.
    HttpHosts hosts_;
    std::vector<std::unique_ptr<HttpTransfer>> idle_;
    std::unordered_map<std::uint64_t, std::unique_ptr<HttpTransfer>> by_id_;
    // The same asks come again and again, and parsing costs as much as a fifth of a request.
    std::unordered_map<std::string, std::shared_ptr<const HttpUrl>> urls_;
    std::vector<std::uint64_t> failed_;  // to be reported outside of start() and cancel()
    HttpClientCounts counts_;
    Timer report_timer_;
    Timer sweep_timer_;
};

std::unique_ptr<HttpTransfer> HttpClient::Impl::take_handle() {
    if (!idle_.empty()) {
        auto transfer = std::move(idle_.back());
        idle_.pop_back();
        return transfer;
    }
    auto transfer = std::make_unique<HttpTransfer>(surroundings_, [this](HttpTransfer& late) {
        HttpFault fault = fault_of_deadline(late);
        late.fail(fault.problem, std::move(fault.detail));
        finish(late);
    });
    set_up_handle(*transfer);
    return transfer;
}

void HttpClient::Impl::start(HttpOrder order, Done done) {
    const std::uint64_t id = order.id;
    auto [place, added] = by_id_.try_emplace(id);
    POLLUX_CHECK_MSG(added, "the id of an order is unique while it lives");
    place->second = take_handle();
    HttpTransfer& transfer = *place->second;
    transfer.begin(std::move(order), std::move(done));
    if (!sweep_timer_.armed()) sweep_timer_.arm_in(kSweepInterval);
    if (!accept(transfer)) {
        finish_later(transfer);
        return;
    }
    transfer.deadline_timer.arm(transfer.order.deadline);
    request(transfer);
}

bool HttpClient::Impl::accept(HttpTransfer& transfer) {
    if (by_id_.size() > options_.max_in_flight) {
        transfer.fail(HttpProblem::kOverloaded,
                      fmt::format("{} requests are under way already", options_.max_in_flight));
        return false;
    }
    auto url = url_of(transfer.ask());
    if (!url) {
        transfer.fail(HttpProblem::kBadRequest, url.error().message);
        return false;
    }
    transfer.next_url = std::move(*url);
    if (const auto status = check_ask(transfer.ask(), transfer.order.credentials.get()); !status) {
        transfer.fail(HttpProblem::kBadRequest, status.error().message);
        return false;
    }
    return true;
}

base::Result<std::shared_ptr<const HttpUrl>> HttpClient::Impl::url_of(const model::HttpAsk& ask) {
    if (const auto found = urls_.find(ask.url); found != urls_.end()) return found->second;
    auto url = HttpUrl::parse(ask.url);
    if (!url) return std::unexpected(url.error());
    if (urls_.size() >= options_.max_urls) urls_.clear();
    auto shared = std::make_shared<const HttpUrl>(std::move(*url));
    if (options_.max_urls > 0) urls_.emplace(ask.url, shared);
    return shared;
}

// Finds the address of the next request, then sends it.
void HttpClient::Impl::request(HttpTransfer& transfer) {
    transfer.expect_answer();
    if (transfer.url().literal) {
        transfer.addresses = nullptr;
        send(transfer);
        return;
    }
    transfer.addresses = surroundings_.resolver.find_now(transfer.url().host);
    if (transfer.addresses != nullptr) {
        send(transfer);
        return;
    }
    const base::Duration before = transfer.elapsed();
    transfer.ticket = surroundings_.resolver.lookup(
        transfer.url().host, [this, &transfer, before](const auto& result) {
            transfer.ticket = 0;
            transfer.dns_time = transfer.elapsed();
            if (!result) {
                HttpFault fault = fault_of_lookup(result.error());
                transfer.fail(fault.problem, std::move(fault.detail));
                finish(transfer);
                return;
            }
            transfer.addresses = *result;
            transfer.note(lookup_line(transfer, transfer.dns_time - before));
            send(transfer);
        });
}

void HttpClient::Impl::send(HttpTransfer& transfer) {
    transfer.host = hosts_.acquire(transfer.url().origin, surroundings_.loop.now());
    if (transfer.host == nullptr) {
        transfer.fail(HttpProblem::kOverloaded,
                      fmt::format("{} hosts are being asked already", options_.max_hosts));
        finish_later(transfer);
        return;
    }
    const auto ready = set_up_request(transfer);
    transfer.request_start = transfer.elapsed();
    if (!ready || !transfer.host->shard->add(transfer.easy)) {
        transfer.fail(HttpProblem::kOverloaded, "out of memory");
        finish_later(transfer);
        return;
    }
    transfer.running = true;
    ++counts_.requests;
}

// Called by the shard, outside of libcurl.
void HttpClient::Impl::on_finished(void* easy, int code) {
    char* owner = nullptr;
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, &owner);
    HttpTransfer& transfer = *reinterpret_cast<HttpTransfer*>(owner);
    if (code != CURLE_OK && transfer.problem == HttpProblem::kNone) {
        HttpFault fault = fault_of(transfer, code);
        transfer.fail(fault.problem, std::move(fault.detail));
    }
    // From now on the shard knows the name without being told.
    if (code == CURLE_OK && transfer.state.has_resolve) transfer.host->told = transfer.addresses;
    if (transfer.problem == HttpProblem::kNone && follow(transfer)) return;
    finish(transfer);
}

// Whether another request of the same order is under way now.
bool HttpClient::Impl::follow(HttpTransfer& transfer) {
    if (transfer.ask().max_redirects == 0) return false;
    long status = 0;
    curl_easy_getinfo(transfer.easy, CURLINFO_RESPONSE_CODE, &status);
    if (!is_redirect(static_cast<int>(status))) return false;
    const std::string* location = header_of(transfer.reply, "location");
    if (location == nullptr) return false;
    if (transfer.redirects >= transfer.ask().max_redirects) {
        transfer.fail(HttpProblem::kRedirectLimit,
                      fmt::format("more than {} redirects; ask for the final address, or allow "
                                  "more redirects",
                                  transfer.ask().max_redirects));
        return false;
    }
    auto next = transfer.url().join(*location);
    if (!next) {
        transfer.fail(HttpProblem::kRedirectRefused,
                      fmt::format("the redirect leads nowhere: {}", next.error().message));
        return false;
    }
    const NextRequest change = next_request(static_cast<int>(status), transfer.method);
    if (transfer.redirects == 0) transfer.first_url = transfer.next_url;
    const bool home = same_origin(*transfer.first_url, *next);
    if (!home && transfer.with_body && change.keeps_body) {
        transfer.fail(HttpProblem::kRedirectRefused,
                      fmt::format("the redirect leads to {}, and the body of a request is not sent "
                                  "to another host; ask there directly",
                                  next->shown));
        return false;
    }
    note_first_class(transfer);
    transfer.note(redirect_line(transfer, static_cast<int>(status), *next));
    count_bytes(transfer);
    leave_shard(transfer);
    ++transfer.redirects;
    transfer.next_url = std::make_shared<const HttpUrl>(std::move(*next));
    transfer.method = change.method;
    transfer.with_body = transfer.with_body && change.keeps_body;
    transfer.elsewhere = !home;
    transfer.with_credentials = home;
    request(transfer);
    return true;
}

void HttpClient::Impl::leave_shard(HttpTransfer& transfer) {
    if (transfer.running) transfer.host->shard->remove(transfer.easy);
    transfer.running = false;
    if (transfer.host != nullptr) hosts_.release(*transfer.host, surroundings_.loop.now());
    transfer.host = nullptr;
}

void HttpClient::Impl::cancel(std::uint64_t id) {
    const auto found = by_id_.find(id);
    if (found == by_id_.end()) return;
    found->second->fail(HttpProblem::kCancelled, "cancelled");
    finish_later(*found->second);
}

void HttpClient::Impl::finish_later(HttpTransfer& transfer) {
    if (transfer.ticket != 0) surroundings_.resolver.cancel(std::exchange(transfer.ticket, 0));
    // From here on only report() ends it, so that it ends once.
    transfer.deadline_timer.cancel();
    if (transfer.running) transfer.host->shard->remove(transfer.easy);
    transfer.running = false;
    failed_.push_back(transfer.order.id);
    if (!report_timer_.armed()) report_timer_.arm(surroundings_.loop.now());
}

void HttpClient::Impl::report() {
    for (const std::uint64_t id : std::exchange(failed_, {})) {
        const auto found = by_id_.find(id);
        // Cancelled twice, or an id that was used again meanwhile.
        if (found == by_id_.end() || found->second->problem == HttpProblem::kNone) continue;
        finish(*found->second);
    }
}

void HttpClient::Impl::finish(HttpTransfer& transfer) {
    if (transfer.ticket != 0) surroundings_.resolver.cancel(std::exchange(transfer.ticket, 0));
    HttpOutcome outcome = outcome_of(transfer);
    if (transfer.running && !outcome.reused) ++counts_.connections;
    leave_shard(transfer);
    Done done = std::move(transfer.done);
    const auto found = by_id_.find(transfer.order.id);
    POLLUX_CHECK(found != by_id_.end());
    std::unique_ptr<HttpTransfer> owned = std::move(found->second);
    by_id_.erase(found);
    owned->end();
    if (clean_up_handle(*owned) && idle_.size() < options_.max_idle_handles) {
        idle_.push_back(std::move(owned));
    }
    owned.reset();
    done(std::move(outcome));
}

void HttpClient::Impl::sweep() {
    hosts_.sweep(surroundings_.loop.now());
    if (hosts_.shards() > 0 || !by_id_.empty()) sweep_timer_.arm_in(kSweepInterval);
}

HttpClient::HttpClient(EventLoop& loop, Resolver& resolver,
                       std::shared_ptr<const EgressPolicy> egress, HttpClientOptions options) {
    initialise_libcurl();
    impl_ = std::make_unique<Impl>(loop, resolver, std::move(egress), std::move(options));
}

HttpClient::~HttpClient() = default;

void HttpClient::start(HttpOrder order, Done done) {
    impl_->start(std::move(order), std::move(done));
}
void HttpClient::cancel(std::uint64_t id) { impl_->cancel(id); }
std::size_t HttpClient::in_flight() const { return impl_->in_flight(); }
void HttpClient::set_egress(std::shared_ptr<const EgressPolicy> egress) {
    impl_->set_egress(std::move(egress));
}
HttpClientCounts HttpClient::counts() const { return impl_->counts(); }

}  // namespace pollux::net
