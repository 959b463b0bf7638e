# Reads bodies as an application on Rack (Rails, Sinatra) does: with Rack::Request#POST. Rack makes hashes of names
# with brackets, and this restores the names.
require "json"
require "stringio"
require "rack"

Rack::Utils.multipart_part_limit = 0
Rack::Utils.multipart_total_part_limit = 0 if Rack::Utils.respond_to?(:multipart_total_part_limit=)

def coded(text)
  text && [text].pack("m0")
end

def file?(value)
  value.is_a?(Hash) && value[:tempfile]
end

def parts(value, name)
  if file?(value)
    # Rack keeps the part's name next to the file.
    [{ name: coded(value[:name]), filename: coded(value[:filename]), type: coded(value[:type]),
       bytes: coded(value[:tempfile].read) }]
  elsif value.is_a?(Hash)
    value.flat_map { |key, inner| parts(inner, name ? "#{name}[#{key}]" : key) }
  elsif value.is_a?(Array)
    value.flat_map { |inner| parts(inner, "#{name}[]") }
  else
    [{ name: coded(name), filename: nil, bytes: coded(value.to_s) }]
  end
end

directory = ARGV.fetch(0)
puts JSON.generate(reader: "Rack #{Rack.release}", order: "by name")
JSON.parse(File.read(File.join(directory, "bodies.json"))).each do |item|
  body = File.binread(File.join(directory, item["body"]))
  told = { case: item["case"] }
  begin
    request = Rack::Request.new(
      "REQUEST_METHOD" => "POST", "CONTENT_TYPE" => item["content_type"],
      "CONTENT_LENGTH" => body.bytesize.to_s, "rack.input" => StringIO.new(body))
    told[:parts] = parts(request.POST, nil)
  rescue StandardError => error
    told[:error] = "#{error.class}: #{error.message}"
  end
  puts JSON.generate(told)
end
