/** Turns points in time into revisions of a running cluster. */
import { ClusterError, type DataDir } from "#cluster";
import { askServer, bodyText } from "../inspect/ask-server.ts";

export interface MomentFound {
  readonly revision: number;
  /** When it was written, if known. */
  readonly time?: string;
}

/** Throws ClusterError with the server's message if the point in time is invalid or no longer kept. */
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
