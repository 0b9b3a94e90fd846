#include "net/memory_stream.hpp"

#include <algorithm>

namespace pollux::net {

MemoryStream::MemoryStream(EventLoop& loop, std::size_t capacity)
    : capacity_(capacity), timer_(loop, [this] { ready(); }) {}

MemoryStream::Pair MemoryStream::make_pair(EventLoop& loop, std::size_t capacity) {
    std::unique_ptr<MemoryStream> a(new MemoryStream(loop, capacity));
    std::unique_ptr<MemoryStream> b(new MemoryStream(loop, capacity));
    a->other_ = b.get();
    b->other_ = a.get();
    return {std::move(a), std::move(b)};
}

MemoryStream::~MemoryStream() {
    if (other_ == nullptr) return;
    other_->other_ = nullptr;
    other_->incoming_ended_ = true;
    other_->wake();
}

void MemoryStream::want(bool to_read, bool to_write) {
    to_read_ = to_read;
    to_write_ = to_write;
    wake();
}

void MemoryStream::wake() {
    const bool readable = to_read_ && (!incoming_.empty() || incoming_ended_ || broken_);
    const bool writable =
        to_write_ && (other_ == nullptr || broken_ || other_->incoming_.size() < other_->capacity_);
    if ((readable || writable) && !timer_.armed()) timer_.arm_in(base::Duration::zero());
}

void MemoryStream::ready() {
    wake();  // a level: the next turn calls again unless the handler changes something
    if (timer_.armed() && handler_ != nullptr) handler_->on_stream_ready();
}

IoResult MemoryStream::read(std::span<char> into) {
    if (!incoming_.empty()) {
        const std::size_t count = std::min(into.size(), incoming_.size());
        std::copy_n(incoming_.data(), count, into.data());
        incoming_.erase(0, count);
        if (other_ != nullptr) other_->wake();
        return {.state = IoState::kOk, .bytes = count};
    }
    if (broken_) return {.state = IoState::kFailed};
    return {.state = incoming_ended_ ? IoState::kClosed : IoState::kWouldBlock};
}

IoResult MemoryStream::write(std::span<const char> from) {
    if (other_ == nullptr || outgoing_ended_ || broken_) {
        broken_ = true;
        return {.state = IoState::kFailed};
    }
    const std::size_t room = other_->capacity_ - other_->incoming_.size();
    const std::size_t count = std::min(room, from.size());
    if (count == 0) return {.state = IoState::kWouldBlock};
    other_->incoming_.append(from.data(), count);
    other_->wake();
    return {.state = IoState::kOk, .bytes = count};
}

void MemoryStream::shutdown_write() {
    outgoing_ended_ = true;
    if (other_ == nullptr) return;
    other_->incoming_ended_ = true;
    other_->wake();
}

void MemoryStream::abort() {
    broken_ = true;
    incoming_.clear();
    if (other_ == nullptr) return;
    MemoryStream* peer = std::exchange(other_, nullptr);
    peer->other_ = nullptr;
    peer->broken_ = true;
    peer->incoming_.clear();
    peer->wake();
}

}  // namespace pollux::net
