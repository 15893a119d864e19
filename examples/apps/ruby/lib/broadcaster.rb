# frozen_string_literal: true

require "json"

# The ways in which an application hands the server a message for a stream. Each sends the same payload.
module Broadcaster
  # Where messages go, as AnyCable's variables say it.
  def self.from_env(env)
    adapter = env.fetch("ANYCABLE_BROADCAST_ADAPTER", "http")
    case adapter
    when "http"
      Http.new(env.fetch("ANYCABLE_HTTP_BROADCAST_URL", "http://localhost:8090/_broadcast"), env["ANYCABLE_BROADCAST_KEY"])
    when "redis" then Redis.new(env.fetch("REDIS_URL", "redis://localhost:6379"))
    when "redisx" then RedisStream.new(env.fetch("REDIS_URL", "redis://localhost:6379"))
    else abort "ANYCABLE_BROADCAST_ADAPTER is #{adapter.inspect}; valid are http, redis and redisx."
    end
  end

  # `data` is a string that holds JSON.
  def self.payload(stream, message)
    { stream: stream, data: message.to_json }.to_json
  end

  # POST, answered with 201. With a key the server takes broadcasts on its main port, without one on port 8090.
  class Http
    def initialize(url, key)
      require "net/http"
      @uri = URI(url)
      @headers = { "Content-Type" => "application/json" }
      @headers["Authorization"] = "Bearer #{key}" if key
    end

    def broadcast(stream, message)
      response = Net::HTTP.post(@uri, Broadcaster.payload(stream, message), @headers)
      raise "POST #{@uri} was answered with #{response.code} #{response.body}" unless response.code == "201"
    end
  end

  # Publish/subscribe: every server that is connected gets the message; without one it is lost.
  class Redis
    CHANNEL = "__anycable__"

    def initialize(url)
      require "redis"
      @redis = ::Redis.new(url: url)
    end

    def broadcast(stream, message)
      @redis.publish(CHANNEL, Broadcaster.payload(stream, message))
    end
  end

  # A stream: one server gets the message, and it waits for that server.
  class RedisStream
    STREAM = "__anycable__"

    def initialize(url)
      require "redis"
      @redis = ::Redis.new(url: url)
    end

    def broadcast(stream, message)
      @redis.xadd(STREAM, { payload: Broadcaster.payload(stream, message) })
    end
  end
end
