# frozen_string_literal: true

Gem::Specification.new do |spec|
  spec.name = "plimsoll"
  spec.version = "{{version}}"
  spec.platform = "{{machine}}-linux"
  spec.summary = "A real-time cable server and the load laboratory that finds its line"
  spec.description = "The program plimsoll: it serves Action Cable and AnyCable clients of a Rails application, and measures how many it carries."
  spec.authors = ["The Plimsoll developers"]
  spec.license = "MIT"
  spec.required_ruby_version = ">= 2.7"
  spec.files = ["lib/plimsoll.rb", "libexec/plimsoll", "README.md", "LICENSE", "THIRD-PARTY-LICENSES.txt"]
  spec.bindir = "exe"
  spec.executables = ["plimsoll"]
end
