// The methods that are measured, by the callback API of gRPC for C++. grpc-cpp PORT
#include <grpcpp/grpcpp.h>
#include <sys/time.h>

#include <cstdio>
#include <ctime>
#include <string>

#include "example.grpc.pb.h"

using example::ClientMessage;
using example::ServerResponse;
using example::StreamItem;
using example::StreamRequest;
using grpc::CallbackServerContext;
using grpc::Status;

static std::string now() {
  timeval time;
  gettimeofday(&time, nullptr);
  tm parts;
  gmtime_r(&time.tv_sec, &parts);
  char text[32];
  size_t length = strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  snprintf(text + length, sizeof text - length, ".%03dZ", static_cast<int>(time.tv_usec / 1000));
  return text;
}

static void fill(ServerResponse* reply, const std::string& response, int sequence) {
  reply->set_server_id("bench");
  reply->set_response(response);
  reply->set_received_sequence(sequence);
  reply->set_timestamp(now());
}

class ClientStreamReactor : public grpc::ServerReadReactor<ClientMessage> {
 public:
  explicit ClientStreamReactor(ServerResponse* reply) : reply_(reply) { StartRead(&message_); }
  void OnReadDone(bool ok) override {
    if (ok) {
      received_++;
      StartRead(&message_);
      return;
    }
    fill(reply_, "Received " + std::to_string(received_) + " messages", received_);
    Finish(Status::OK);
  }
  void OnDone() override { delete this; }

 private:
  ServerResponse* reply_;
  ClientMessage message_;
  int received_ = 0;
};

class BidirectionalReactor : public grpc::ServerBidiReactor<ClientMessage, ServerResponse> {
 public:
  BidirectionalReactor() { StartRead(&message_); }
  void OnReadDone(bool ok) override {
    if (!ok) {
      Finish(Status::OK);
      return;
    }
    fill(&reply_, "Echo: " + message_.message(), message_.sequence());
    StartWrite(&reply_);
  }
  void OnWriteDone(bool ok) override {
    if (ok) StartRead(&message_);
    else Finish(Status::CANCELLED);
  }
  void OnDone() override { delete this; }

 private:
  ClientMessage message_;
  ServerResponse reply_;
};

class Greeter : public example::Greeter::CallbackService {
  grpc::ServerUnaryReactor* SayHello(CallbackServerContext* context, const example::HelloRequest* request,
                                     example::HelloReply* reply) override {
    reply->set_message("Hello, " + request->name() + " from bench!");
    reply->set_status(200);
    auto* reactor = context->DefaultReactor();
    reactor->Finish(Status::OK);
    return reactor;
  }
  grpc::ServerReadReactor<ClientMessage>* ClientStream(CallbackServerContext*, ServerResponse* reply) override {
    return new ClientStreamReactor(reply);
  }
  grpc::ServerBidiReactor<ClientMessage, ServerResponse>* BidirectionalStream(CallbackServerContext*) override {
    return new BidirectionalReactor;
  }
};

// As fast as the client takes them; one that asks for a slow pace gets one item, and nothing until it leaves.
class SubscribeReactor : public grpc::ServerWriteReactor<StreamItem> {
 public:
  explicit SubscribeReactor(const StreamRequest* request) : count_(request->count()), is_slow_(request->rate() < 1) { next(); }
  void OnWriteDone(bool ok) override {
    if (is_slow_) return;
    if (ok) next();
    else Finish(Status::CANCELLED);
  }
  void OnCancel() override {
    if (is_slow_) Finish(Status::CANCELLED);
  }
  void OnDone() override { delete this; }

 private:
  void next() {
    if (count_ != 0 && position_ == count_) {
      Finish(Status::OK);
      return;
    }
    item_.set_position(position_);
    item_.set_value("item-" + std::to_string(position_));
    item_.set_timestamp(now());
    position_++;
    StartWrite(&item_);
  }
  const int64_t count_;
  const bool is_slow_;
  int64_t position_ = 0;
  StreamItem item_;
};

class Stream : public example::StreamService::CallbackService {
  grpc::ServerWriteReactor<StreamItem>* Subscribe(CallbackServerContext*, const StreamRequest* request) override {
    return new SubscribeReactor(request);
  }
};

int main(int, char** arguments) {
  Greeter greeter;
  Stream stream;
  grpc::ServerBuilder builder;
  builder.AddListeningPort(std::string("127.0.0.1:") + arguments[1], grpc::InsecureServerCredentials());
  builder.RegisterService(&greeter);
  builder.RegisterService(&stream);
  builder.BuildAndStart()->Wait();
}
