/** Turns a kubelet's refusal into a Status: kubelets answer with a line of text. */
import { badRequest, internalError, serverResponse } from "#api";
import { type ApiResponse, isStream, type StreamResponse } from "../http/exchange.ts";

const MAX_BYTES = 50_000;

/** Returns a successful response unchanged; throws a refusal as a StatusError. */
export async function kubeletRefusal(answer: ApiResponse): Promise<ApiResponse> {
  const { status } = answer;
  if (status === 101 || (status >= 200 && status <= 206)) return answer;
  const text = isStream(answer) ? await textOf(answer) : Buffer.concat(answer.body).toString();
  if (status === 400) throw badRequest(text);
  if (status === 500) throw internalError(text);
  throw serverResponse(status, text);
}

async function textOf(answer: StreamResponse): Promise<string> {
  const enough = new AbortController();
  const chunks: Buffer[] = [];
  let bytes = 0;
  await answer.stream({
    write(chunk) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= MAX_BYTES) enough.abort();
      return 0;
    },
    drop: () => enough.abort(),
    signal: enough.signal,
  });
  return Buffer.concat(chunks).toString("utf8", 0, MAX_BYTES);
}
