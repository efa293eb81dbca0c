/** The sample cloud of examples/cloud-provider without sockets: for tests in virtual time. */

import { type Clock, type HttpFailure, type HttpRequest, type HttpResponse, seededRandom } from "#base";
import { SampleCloud } from "../../../examples/cloud-provider/sample-cloud.ts";
import { httpCloud } from "../http/http-cloud.ts";
import { httpCloudSettings } from "../http/settings.ts";

export interface Exchange {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly status: number;
  readonly answer: unknown;
}

/** What a disturbed server does with a call: it hangs, or answers something else. */
export type Disturbance = "hang" | { readonly status: number; readonly text: string; readonly retryAfter?: string };

export interface TestCloud {
  readonly sample: SampleCloud;
  readonly cloud: ReturnType<typeof httpCloud>;
  readonly exchanges: readonly Exchange[];
  disturb(by: (method: string, path: string) => Disturbance | undefined): void;
}

export function testCloud(clock: Clock, config: Readonly<Record<string, unknown>> = {}): TestCloud {
  const sample = new SampleCloud("secret");
  const exchanges: Exchange[] = [];
  let disturbance: (method: string, path: string) => Disturbance | undefined = () => undefined;
  const settings = httpCloudSettings({
    ...{ apiVersion: "cloud.k8ts.dev/v1alpha1", kind: "HTTPCloudConfig", server: "http://127.0.0.1:1" },
    ...{ token: "secret", ...config },
  });
  const answered = (status: number, text: string, retryAfter?: string): HttpResponse => ({
    ...{ ok: true, status, body: Buffer.from(text) },
    headers: retryAfter === undefined ? {} : { "retry-after": retryAfter },
  });
  const send = async (request: HttpRequest): Promise<HttpResponse | HttpFailure> => {
    const { method = "GET", headers = {}, body = Buffer.alloc(0), signal } = request;
    const url = new URL(String(request.url));
    const disturbed = disturbance(method, url.pathname);
    if (disturbed === "hang") {
      const address = { host: url.hostname, port: Number(url.port) };
      const isAborted = await clock.sleep(settings.timeoutMs, signal).then(
        () => false,
        () => true,
      );
      return { ok: false, reason: isAborted ? "aborted" : "deadline", cause: new Error("no answer"), address };
    }
    if (disturbed !== undefined) return answered(disturbed.status, disturbed.text, disturbed.retryAfter);
    const text = body.toString("utf8");
    const { status, body: answer } = sample.answer({ method, url: url.href, headers, body: text });
    exchanges.push({ method, url, headers, body: text === "" ? undefined : JSON.parse(text), status, answer });
    return answered(status, answer === undefined ? "" : JSON.stringify(answer));
  };
  const http = { send, close: () => {} };
  const cloud = httpCloud({ settings, clusterName: "test", clock, random: seededRandom(1), http });
  return {
    ...{ sample, cloud, exchanges },
    disturb: (by) => {
      disturbance = by;
    },
  };
}
