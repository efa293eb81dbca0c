/** A shell in a container: xterm over the API server's `exec`. */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { KubeObject } from "../api/watched.ts";
import { inputFrame, PROTOCOL, readFrame, resizeFrame } from "../model/channels.ts";
import { ContainerField } from "./container-field.tsx";
import { containersOf } from "./log.tsx";

export function TerminalTab({ pod }: { readonly pod: KubeObject }) {
  const names = containersOf(pod);
  const container = useSignal(names[0] ?? "");
  const command = useSignal("sh");
  /** Incremented with each started shell. */
  const run = useSignal(0);
  const state = useSignal("");
  const box = useRef<HTMLDivElement>(null);
  const { namespace = "", name } = pod.metadata;

  useEffect(() => {
    const element = box.current;
    if (run.value === 0 || element === null) return undefined;
    const ending = new AbortController();
    state.value = "Connecting …";
    const query = new URLSearchParams({ container: container.peek(), stdin: "true", stdout: "true", tty: "true" });
    for (const word of command.peek().split(/\s+/).filter(Boolean)) query.append("command", word);
    const path = `proxy/api/v1/namespaces/${namespace}/pods/${name}/exec?${query}`;
    openTerminal(
      element,
      path,
      (words) => {
        state.value = words;
      },
      ending.signal,
    ).catch((error: unknown) => {
      state.value = `The terminal could not start: ${error instanceof Error ? error.message : error}`;
    });
    return () => ending.abort();
  }, [run.value, namespace, name, container, command, state]);

  return (
    <div class="terminal">
      <form
        class="tools"
        onSubmit={(event) => {
          event.preventDefault();
          run.value += 1;
        }}
      >
        <ContainerField chosen={container} names={names} />
        <input
          aria-label="Command"
          class="command"
          value={command.value}
          onInput={({ currentTarget }) => {
            command.value = currentTarget.value;
          }}
        />
        <button type="submit" class="primary">
          {run.value === 0 ? "Start" : "Start anew"}
        </button>
        <span class="dim" role="status">
          {isShort(state.value) ? state.value : ""}
        </span>
      </form>
      {!isShort(state.value) && (
        <p class="notice" role="alert">
          {state.value}
        </p>
      )}
      <div ref={box} class="terminal-box" />
    </div>
  );
}

/** The state of a shell that works. */
function isShort(words: string): boolean {
  return ["", "Connecting …", "Connected.", EXITED].includes(words);
}

const EXITED = "The shell has exited.";

async function openTerminal(
  element: HTMLElement,
  path: string,
  tell: (words: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const [{ Terminal }, { FitAddon }] = await Promise.all([import("@xterm/xterm"), import("@xterm/addon-fit")]);
  if (signal.aborted) return;
  const style = getComputedStyle(element);
  const terminal = new Terminal({
    cursorBlink: true,
    fontFamily: style.fontFamily,
    fontSize: 13,
    theme: { background: "#15171a", foreground: "#e6e7e9" },
  });
  const fit = new FitAddon();
  terminal.loadAddon(fit);
  withNonces(document, () => terminal.open(element));
  fit.fit();
  const socket = new WebSocket(new URL(path, document.baseURI).href.replace(/^http/, "ws"), PROTOCOL);
  socket.binaryType = "arraybuffer";
  let ended = "";
  socket.onopen = () => {
    tell("Connected.");
    socket.send(resizeFrame(terminal.cols, terminal.rows));
    terminal.focus();
  };
  socket.onmessage = ({ data }: MessageEvent<ArrayBuffer>) => {
    const frame = readFrame(data);
    if (frame.type === "output") terminal.write(frame.bytes);
    if (frame.type === "ended") ended = frame.words;
  };
  socket.onclose = () => tell(ended === "" ? "The connection was lost." : ended === "ended" ? EXITED : ended);
  terminal.onData((text) => socket.readyState === WebSocket.OPEN && socket.send(inputFrame(text)));
  terminal.onResize(({ cols, rows }) => socket.readyState === WebSocket.OPEN && socket.send(resizeFrame(cols, rows)));
  const resized = new ResizeObserver(() => fit.fit());
  resized.observe(element);
  signal.addEventListener("abort", () => {
    resized.disconnect();
    socket.onclose = null;
    socket.close();
    terminal.dispose();
  });
}

/** The terminal creates style sheets when it opens: the page's policy accepts only those with its nonce. */
function withNonces(page: Document, open: () => void): void {
  const nonce = page.querySelector<HTMLMetaElement>("meta[name=style-nonce]")?.content ?? "";
  const create = page.createElement;
  page.createElement = (name: string, options?: ElementCreationOptions) => {
    const made = create.call(page, name, options);
    if (name === "style") made.nonce = nonce;
    return made;
  };
  try {
    open();
  } finally {
    page.createElement = create;
  }
}
