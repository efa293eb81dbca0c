import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Refused } from "./request.ts";
import { LineReader, StreamConnection } from "./streams.ts";

/** A socket that a test is the other side of. */
class FakeSocket {
  static readonly OPEN = 1;
  static readonly all: FakeSocket[] = [];
  readyState = 0;
  readonly sent: object[] = [];
  onopen?: () => void;
  onmessage?: (event: { data: string }) => void;
  onclose?: () => void;

  constructor() {
    FakeSocket.all.push(this);
  }

  send(text: string): void {
    this.sent.push(JSON.parse(text));
  }

  opened(): void {
    this.readyState = FakeSocket.OPEN;
    this.onopen?.();
  }

  tell(message: object): void {
    this.onmessage?.({ data: JSON.stringify(message) });
  }
}

function listener() {
  const heard: unknown[] = [];
  return {
    heard,
    onOpen: () => heard.push("open"),
    onText: (text: string) => heard.push(text),
    onEnd: (error?: Error) => heard.push(error ?? "end"),
  };
}

describe("streams over one WebSocket", () => {
  beforeEach(() => void vi.stubGlobal("WebSocket", FakeSocket));
  afterEach(() => {
    FakeSocket.all.length = 0;
    vi.unstubAllGlobals();
  });

  it("are asked for when the connection is there, and told apart", () => {
    const connection = new StreamConnection("ws://x");
    const [one, two] = [listener(), listener()];
    connection.open("/a", one);
    connection.open("/b", two);
    const [socket] = FakeSocket.all;
    expect(FakeSocket.all).toHaveLength(1);
    socket?.opened();
    expect(socket?.sent).toEqual([
      { open: 1, path: "/a" },
      { open: 2, path: "/b" },
    ]);
    socket?.tell({ id: 2, status: 200 });
    socket?.tell({ id: 2, text: "b" });
    socket?.tell({ id: 1, status: 200 });
    socket?.tell({ id: 1, text: "a" });
    socket?.tell({ id: 1, end: "" });
    expect(one.heard).toEqual(["open", "a", "end"]);
    expect(two.heard).toEqual(["open", "b"]);
  });

  it("that are refused end with the server's words, and nothing else", () => {
    const heard = listener();
    new StreamConnection("ws://x").open("/a", heard);
    const [socket] = FakeSocket.all;
    socket?.opened();
    socket?.tell({ id: 1, status: 403 });
    socket?.tell({ id: 1, text: '{"reason":"Forbidden",' });
    socket?.tell({ id: 1, text: '"message":"pods is forbidden"}' });
    socket?.tell({ id: 1, end: "" });
    expect(heard.heard).toHaveLength(1);
    expect(heard.heard[0]).toBeInstanceOf(Refused);
    expect(heard.heard[0]).toMatchObject({ code: 403, reason: "Forbidden", message: "pods is forbidden" });
  });

  it("that are closed hear nothing more", () => {
    const heard = listener();
    const close = new StreamConnection("ws://x").open("/a", heard);
    const [socket] = FakeSocket.all;
    socket?.opened();
    close();
    close();
    socket?.tell({ id: 1, status: 200 });
    socket?.onclose?.();
    expect(socket?.sent).toEqual([{ open: 1, path: "/a" }, { close: 1 }]);
    expect(heard.heard).toEqual([]);
  });

  it("all end when the connection is lost; the next one makes a new one", () => {
    const connection = new StreamConnection("ws://x");
    const heard = listener();
    connection.open("/a", heard);
    FakeSocket.all[0]?.opened();
    FakeSocket.all[0]?.onclose?.();
    expect(heard.heard[0]).toBeInstanceOf(Error);
    connection.open("/a", heard);
    expect(FakeSocket.all).toHaveLength(2);
  });
});

it.each([
  [["a\nb\n"], ["a", "b"]],
  [["a", "b\nc"], ["ab"]],
  [
    ["a\n", "", "\n"],
    ["a", ""],
  ],
])("lines of %j", (texts, want) => {
  const reader = new LineReader();
  expect(texts.flatMap((text) => reader.read(text))).toEqual(want);
});
