/** Moments that users name, as revisions of a running cluster. */
import { ClusterError, type DataDir } from "#cluster";
import { askServer, bodyText } from "../inspect/ask-server.ts";

export interface MomentFound {
  readonly revision: number;
  /** When that was, where it is known. */
  readonly time?: string;
}

/** Throws ClusterError with the server's words for what is no moment, or is gone. */
export async function momentOf(dir: DataDir, text: string): Promise<MomentFound> {
  const response = await askServer(dir, `/k8ts/history?at=${encodeURIComponent(text)}`);
  const body = await bodyText(response);
  if (response.statusCode !== 200) throw new ClusterError(`${messageOf(body)}.`);
  return JSON.parse(body) as MomentFound;
}

/** Of a Status. */
export function messageOf(body: string): string {
  try {
    return (JSON.parse(body) as { message?: string }).message ?? body.trim();
  } catch {
    return body.trim();
  }
}
