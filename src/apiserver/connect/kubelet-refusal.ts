/** What a kubelet says when it refuses, as an error of this API: it answers with a line of text, callers expect a Status. */
import { badRequest, internalError, serverResponse } from "#api";
import { type ApiResponse, isStream, type StreamResponse } from "../http/exchange.ts";

const MAX_BYTES = 50_000;

/** The answer as it is where it is one; throws what the kubelet said otherwise. */
export async function kubeletRefusal(answer: ApiResponse): Promise<ApiResponse> {
  const { status } = answer;
  if (status === 101 || (status >= 200 && status <= 206)) return answer;
  const said = isStream(answer) ? await textOf(answer) : Buffer.concat(answer.body).toString();
  if (status === 400) throw badRequest(said);
  if (status === 500) throw internalError(said);
  throw serverResponse(status, said);
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
