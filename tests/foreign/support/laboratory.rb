# The service of k6-scripts/protos/laboratory.proto with gRPC's own library for Ruby. With the arguments AUTHORITY CERTIFICATE
# KEY, files in PEM, it speaks TLS and wants certificates of its clients. Writes its address in one line to standard output.

require "google/protobuf"
require "grpc"

# The definitions, without a compiler for them.
Google::Protobuf::DescriptorPool.generated_pool.build do
  add_file("laboratory.proto", syntax: :proto3) do
    add_message("laboratory.Greeting") { optional :name, :string, 1 }
    add_message("laboratory.Failure") do
      optional :code, :int32, 1
      optional :message, :string, 2
    end
    add_message("laboratory.Delay") do
      optional :ms, :int32, 1
      optional :n, :int32, 2
    end
    add_message("laboratory.Number") { optional :value, :int64, 1 }
  end
end

MESSAGE = ->(name) { Google::Protobuf::DescriptorPool.generated_pool.lookup("laboratory.#{name}").msgclass }
Greeting, Failure, Delay, Number = %w[Greeting Failure Delay Number].map(&MESSAGE)

# A message that stays encoded.
class Raw
  def self.encode(bytes) = bytes
  def self.decode(bytes) = bytes
end

class Service
  include GRPC::GenericService

  self.marshal_class_method = :encode
  self.unmarshal_class_method = :decode
  self.service_name = "laboratory.Laboratory"

  rpc :Echo, Raw, Raw
  rpc :Greet, Greeting, Greeting
  rpc :Fail, Failure, Raw
  rpc :Wait, Delay, Greeting
  rpc :Count, Delay, stream(Number)
  rpc :Sum, stream(Number), Number
  rpc :Chat, stream(Greeting), stream(Greeting)
end

class Laboratory < Service
  def echo(bytes, _call) = bytes

  def greet(greeting, call)
    own = call.metadata.select { |name, _| name.start_with?("x-") }
    call.merge_metadata_to_send(own)
    call.output_metadata.update(own)
    Greeting.new(name: "hello #{greeting.name}")
  end

  def fail(failure, _call)
    raise GRPC::BadStatus.new_status_exception(failure.code, failure.message)
  end

  def wait(delay, _call)
    sleep(delay.ms / 1000.0)
    Greeting.new(name: "after #{delay.ms}")
  end

  def count(delay, _call)
    Enumerator.new do |numbers|
      (1..delay.n).each { |value| numbers << Number.new(value: value) }
      sleep(delay.ms / 1000.0)
    end
  end

  def sum(call)
    sum = 0
    call.each_remote_read { |number| sum += number.value }
    Number.new(value: sum)
  end

  def chat(greetings, _call)
    Enumerator.new do |answers|
      greetings.each do |greeting|
        raise GRPC::BadStatus.new_status_exception(GRPC::Core::StatusCodes::ABORTED, "as told") if greeting.name == "fail"

        answers << Greeting.new(name: "hello #{greeting.name}")
      end
    end
  end
end

def credentials(authority, certificate, key)
  pair = { private_key: File.read(key), cert_chain: File.read(certificate) }
  GRPC::Core::ServerCredentials.new(File.read(authority), [pair], true)
end

server = GRPC::RpcServer.new
port = server.add_http2_port("127.0.0.1:0", ARGV.empty? ? :this_port_is_insecure : credentials(*ARGV))
server.handle(Laboratory)
puts "127.0.0.1:#{port}"
$stdout.flush
server.run_till_terminated_or_interrupted(["TERM"])
