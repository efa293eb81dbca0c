/** Serves a sample cloud on loopback: `node server.ts PORT TOKEN`. */
import { createServer, type Server } from "node:http";
import { type Response, SampleCloud } from "./sample-cloud.ts";

const MAX_BODY_BYTES = 1_000_000;

export function serve(cloud: SampleCloud): Server {
  return createServer((incoming, outgoing) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    incoming.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MAX_BODY_BYTES) incoming.destroy();
      else chunks.push(chunk);
    });
    incoming.once("end", () => {
      const { method = "", url = "", headers } = incoming;
      const plain = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
      let response: Response;
      try {
        response = cloud.answer({ method, url, headers: plain, body: Buffer.concat(chunks).toString("utf8") });
      } catch (error) {
        response = { status: 400, body: { code: "BadRequest", message: (error as Error).message } };
      }
      outgoing.writeHead(response.status, { "content-type": "application/json" });
      outgoing.end(response.body === undefined ? undefined : JSON.stringify(response.body));
    });
  });
}

if (import.meta.main) {
  const [port = "8080", token = ""] = process.argv.slice(2);
  if (token === "") throw new Error("usage: node server.ts PORT TOKEN");
  const server = serve(new SampleCloud(token));
  server.listen(Number(port), "127.0.0.1", () => console.log("listening on", server.address()));
}
