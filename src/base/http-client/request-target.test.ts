import { expect, it } from "vitest";
import { requestTarget } from "./request-target.ts";

it.each([
  ["/metrics", "/metrics", ""],
  ["/healthz?verbose&a=%zz", "/healthz", "verbose=&a=%25zz"],
  ["//", "//", ""],
  ["http://[", "http://[", ""],
  ["*", "*", ""],
  ["?a?b", "", "a%3Fb="],
  [undefined, "/", ""],
])("%s has a path and a query", (url, path, query) => {
  const target = requestTarget(url);
  expect([target.path, String(target.query)]).toEqual([path, query]);
});
