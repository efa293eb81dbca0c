import { describe, expect, it } from "vitest";
import { passedBack, passedOn } from "./passed-headers.ts";
import { remoteUserHeaders } from "./remote-user.ts";

describe("passedOn", () => {
  it.each([
    {
      name: "what is about the message",
      given: { accept: "a", "content-length": "3" },
      want: { accept: "a", "content-length": "3" },
    },
    {
      name: "nothing about the connection",
      given: { connection: "close", te: "x", host: "h", "keep-alive": "1" },
      want: {},
    },
    {
      name: "nothing that the connection names",
      given: { connection: "Close, X-Mine", "x-mine": "1", x: "2" },
      want: { x: "2" },
    },
    { name: "nothing of HTTP/2's own", given: { ":path": "/", a: "b" }, want: { a: "b" } },
    { name: "several values", given: { "set-cookie": ["a", "b"] }, want: { "set-cookie": ["a", "b"] } },
  ])("passes $name", ({ given, want }) => {
    expect(passedOn(given)).toEqual(want);
  });

  it("keeps what an upgrade needs", () => {
    const headers = { connection: "Upgrade", upgrade: "websocket", te: "x" };
    expect(passedOn(headers, ["connection", "upgrade"])).toEqual({ connection: "Upgrade", upgrade: "websocket" });
  });

  it("does not bring back whom browsers may tell", () => {
    expect(passedBack({ "access-control-allow-origin": "*", etag: "1" })).toEqual({ etag: "1" });
  });
});

describe("remoteUserHeaders", () => {
  it.each([
    { user: { name: "jane", groups: [] }, want: { "x-remote-user": ["jane"] } },
    {
      user: { name: "jane", uid: "1", groups: ["a", "b, c"] },
      want: { "x-remote-user": ["jane"], "x-remote-uid": ["1"], "x-remote-group": ["a", "b, c"] },
    },
    {
      user: { name: "jane", groups: [], extra: { "Acme.com/a b%": ["x", "y"] } },
      want: { "x-remote-user": ["jane"], "x-remote-extra-acme.com%2Fa%20b%25": ["x", "y"] },
    },
  ])("says who $user is", ({ user, want }) => {
    expect(remoteUserHeaders(user)).toEqual(want);
  });

  it("refuses names that would be more than one header", () => {
    expect(() => remoteUserHeaders({ name: "jane\r\nx-remote-group: system:masters", groups: [] })).toThrow(
      'net/http: invalid header field value for "x-remote-user"',
    );
  });
});
