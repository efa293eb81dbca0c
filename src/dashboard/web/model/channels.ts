/** The frames of `v5.channel.k8s.io`: the first byte says which stream the others belong to. */
export const PROTOCOL = "v5.channel.k8s.io";
const [STDIN, STDOUT, STDERR, ERROR, RESIZE] = [0, 1, 2, 3, 4];

export type Frame =
  | { readonly type: "output"; readonly bytes: Uint8Array }
  | { readonly type: "ended"; readonly words: string }
  | { readonly type: "unknown" };

export function readFrame(data: ArrayBuffer): Frame {
  const bytes = new Uint8Array(data);
  const channel = bytes[0];
  if (channel === STDOUT || channel === STDERR) return { type: "output", bytes: bytes.subarray(1) };
  if (channel === ERROR) return { type: "ended", words: endOf(new TextDecoder().decode(bytes.subarray(1))) };
  return { type: "unknown" };
}

function endOf(text: string): string {
  try {
    const status = JSON.parse(text) as { status?: string; message?: string };
    return status.status === "Success" ? "ended" : (status.message ?? text);
  } catch {
    return text;
  }
}

export function inputFrame(text: string): Uint8Array<ArrayBuffer> {
  return frame(STDIN, new TextEncoder().encode(text));
}

export function resizeFrame(width: number, height: number): Uint8Array<ArrayBuffer> {
  return frame(RESIZE, new TextEncoder().encode(JSON.stringify({ Width: width, Height: height })));
}

function frame(channel: number, bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(bytes.length + 1);
  all[0] = channel;
  all.set(bytes, 1);
  return all;
}
