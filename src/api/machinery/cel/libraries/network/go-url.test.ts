import { describe, expect, it } from "vitest";
import { hostname, isUri, parseUri, port, queryOf, uriFault } from "./go-url.ts";

describe("parts of a URL", () => {
  it.each([
    ["/path", ["", "", "", "", "/path"]],
    ["https://example.com/", ["https", "example.com", "example.com", "", "/"]],
    ["https://example.com", ["https", "example.com", "example.com", "", ""]],
    ["HTTPS://Example.com:80/a", ["https", "Example.com:80", "Example.com", "80", "/a"]],
    ["https://[::1]:80/", ["https", "[::1]:80", "::1", "80", "/"]],
    ["https://[::1]/", ["https", "[::1]", "::1", "", "/"]],
    ["https://[fe80::1%25en0]:1/", ["https", "[fe80::1%en0]:1", "fe80::1%en0", "1", "/"]],
    ["https://example.com:/", ["https", "example.com:", "example.com", "", "/"]],
    ["https://u:p@example.com/x?y#z", ["https", "example.com", "example.com", "", "/x"]],
    ["https://example.com/with space/", ["https", "example.com", "example.com", "", "/with%20space/"]],
    ["https://example.com/a%2fb", ["https", "example.com", "example.com", "", "/a%2fb"]],
    ["https://example.com/ü", ["https", "example.com", "example.com", "", "/%C3%BC"]],
    ["https://b%C3%BCcher.de/", ["https", "bücher.de", "bücher.de", "", "/"]],
    ["mailto:a@b.c", ["mailto", "", "", "", ""]],
    ["https:://kubernetes.io/", ["https", "", "", "", ""]],
    ["mongodb://a:1,b:2/db", ["mongodb", "a:1,b:2", "a:1,b", "2", "/db"]],
    ["file:///etc/hosts", ["file", "", "", "", "/etc/hosts"]],
    ["*", ["", "", "", "", "*"]],
    ["//host/path", ["", "host", "host", "", "/path"]],
  ])("%s", (text, want) => {
    const url = parseUri(text);
    expect([url.scheme, url.host, hostname(url), port(url), url.escapedPath]).toEqual(want);
  });
});

describe("what is no URL", () => {
  it.each([
    ["", "empty url"],
    ["../relative", "invalid URI for request"],
    ["path", "invalid URI for request"],
    [":x", "missing protocol scheme"],
    ["https://a:b:c/", 'invalid port ":b:c" after host'],
    ["https://a:80:80/", 'invalid port ":80:80" after host'],
    ["ftp://a:x/", 'invalid port ":x" after host'],
    ["https://[::1/", "missing ']' in host"],
    ["https://[::1]x/", 'invalid port "x" after host'],
    ["https://[1.2.3.4]/", "invalid IP-literal"],
    ["https://a[::1]/", "invalid IP-literal"],
    ["https://[x]/", 'invalid host: ParseAddr("x"): unable to parse IP'],
    ["https://a b/", 'invalid character " " in host name'],
    ["https://a%41/", 'invalid URL escape "%41"'],
    ["https://a/%zz", 'invalid URL escape "%zz"'],
    ["https://a/%2", 'invalid URL escape "%2"'],
    ["https://u[@a/", "net/url: invalid userinfo"],
    ["https://a/\n", "net/url: invalid control character in URL"],
  ])("%s: %s", (text, why) => {
    expect(isUri(text)).toBe(false);
    expect(uriFault(text)).toBe(`parse ${JSON.stringify(text)}: ${why}`);
    expect(() => parseUri(text)).toThrow(`parse ${JSON.stringify(text)}: ${why}`);
  });
});

describe("how a URL is written back", () => {
  it.each([
    ["HTTPS://User:P%40ss@Example.com:80/a b?q=1#f r", "https://User:P%40ss@Example.com:80/a%20b?q=1#f%20r"],
    ["https://example.com/?", "https://example.com/?"],
    ["https://example.com", "https://example.com"],
    ["mailto:a@b.c", "mailto:a@b.c"],
    ["/a/b", "/a/b"],
    ["file:///x", "file:///x"],
    ["a:/b", "a:/b"],
  ])("%s", (text, want) => {
    expect(parseUri(text).text).toBe(want);
  });
});

describe("queries", () => {
  it.each([
    ["/?k1=a&k2=b&k2=c", { k1: ["a"], k2: ["b", "c"] }],
    ["/?key with spaces=value+x%20y", { "key with spaces": ["value x y"] }],
    ["/?", {}],
    ["/", {}],
    ["/?a;b=1&c=%zz&d", { d: [""] }],
    ["/?a=1#frag?b=2", { a: ["1"] }],
  ])("%s", (text, want) => {
    expect(Object.fromEntries(queryOf(parseUri(text)))).toEqual(want);
  });

  it("holds nothing if there are too many parameters", () => {
    expect(queryOf(parseUri(`/?${"a&".repeat(10_000)}`)).size).toBe(0);
  });
});

it("reads a huge URL", () => {
  const text = `https://example.com/${"%41".repeat(300_000)}?${"x".repeat(1_000_000)}`;
  expect(parseUri(text).text).toBe(text);
});
