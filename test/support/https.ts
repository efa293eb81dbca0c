/** GET requests to a cluster under test, over the protocol asked for, as its admin or as nobody. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect } from "node:http2";
import { request } from "node:https";
import { join } from "node:path";
import type { Home } from "./k8ts.ts";

export interface Answer {
  readonly status: number;
  readonly body: string;
  readonly protocol: "http/1.1" | "h2";
}

export async function get(
  home: Home,
  url: string,
  { protocol = "http/1.1", anonymous = false }: { protocol?: Answer["protocol"]; anonymous?: boolean } = {},
): Promise<Answer> {
  const pki = (name: string) => readFileSync(join(home.dataDir, "pki", name));
  const tls = { ca: pki("ca.crt"), ...(!anonymous && { cert: pki("admin.crt"), key: pki("admin.key") }) };
  const { origin, pathname, search } = new URL(url);

  if (protocol === "h2") {
    const session = connect(origin, tls);
    const stream = session.request({ ":path": pathname + search });
    const [headers] = (await once(stream, "response")) as [Record<string, unknown>];
    const body = await text(stream);
    session.close();
    return { status: Number(headers[":status"]), body, protocol };
  }
  const call = request(url, { ...tls, agent: false }).end();
  const [response] = await once(call, "response");
  return { status: response.statusCode, body: await text(response), protocol };
}

async function text(stream: NodeJS.ReadableStream): Promise<string> {
  let body = "";
  for await (const chunk of stream.setEncoding("utf8")) body += chunk;
  return body;
}
