/** A real webhook on the loopback device, and configurations that send requests to it. */
import type { JsonObject } from "#api";
import { type TestWebhook, testWebhook } from "../../../custom-resources/testing/index.ts";
import type { DynamicServer } from "../../dynamic/testing/index.ts";

export interface Review extends JsonObject {
  readonly apiVersion: string;
  readonly request: JsonObject & {
    readonly uid: string;
    readonly operation: string;
    readonly name?: string;
    readonly object: JsonObject;
    readonly oldObject: JsonObject;
  };
}

type Answer = JsonObject | string | { readonly status: number; readonly text: string } | undefined;

export interface AdmissionWebhook {
  readonly url: string;
  readonly port: number;
  readonly caBundle: string;
  /** The reviews that it received, in order. */
  readonly reviews: readonly Review[];
  /** The headers of the same requests. */
  readonly headers: TestWebhook["headers"];
  /** How it answers from now on; undefined: never. */
  behave(behaviour: (review: Review) => Answer): void;
  close(): Promise<void>;
}

export async function admissionWebhook(dnsNames?: readonly string[]): Promise<AdmissionWebhook> {
  const hook: TestWebhook = await testWebhook(dnsNames);
  hook.behave((question) => allowing(question as unknown as Review));
  return {
    url: hook.url,
    port: hook.port,
    caBundle: hook.caBundle,
    reviews: hook.questions as unknown as readonly Review[],
    headers: hook.headers,
    behave: (behaviour) => hook.behave((question) => behaviour(question as unknown as Review)),
    close: () => hook.close(),
  };
}

/** A valid response with the fields of `response`. */
export function answering({ apiVersion, request }: Review, response: JsonObject): JsonObject {
  return { kind: "AdmissionReview", apiVersion, response: { uid: request.uid, ...response } };
}

export function allowing(review: Review, more: JsonObject = {}): JsonObject {
  return answering(review, { allowed: true, ...more });
}

export function patching(review: Review, ...operations: readonly JsonObject[]): JsonObject {
  return allowing(review, { patchType: "JSONPatch", patch: encoded(operations) });
}

export function encoded(patch: unknown): string {
  return Buffer.from(typeof patch === "string" ? patch : JSON.stringify(patch)).toString("base64");
}

export const CONFIG_MAPS = { apiGroups: [""], apiVersions: ["v1"], operations: ["*"], resources: ["configmaps"] };

/** A configuration of the name `name`, with one webhook for each of `webhooks`. */
export async function configure(
  server: DynamicServer,
  sort: "mutating" | "validating",
  name: string,
  hook: Pick<AdmissionWebhook, "url" | "caBundle">,
  ...webhooks: readonly object[]
): Promise<void> {
  const kind = sort === "mutating" ? "MutatingWebhookConfiguration" : "ValidatingWebhookConfiguration";
  const path = `/apis/admissionregistration.k8s.io/v1/${kind.toLowerCase()}s`;
  const body = {
    kind,
    apiVersion: "admissionregistration.k8s.io/v1",
    metadata: { name },
    webhooks: (webhooks.length === 0 ? [{}] : webhooks).map((more) => ({
      name: `${name}.example.com`,
      clientConfig: { url: hook.url, caBundle: hook.caBundle },
      sideEffects: "None",
      admissionReviewVersions: ["v1"],
      rules: [CONFIG_MAPS],
      ...more,
    })),
  };
  const { status, text } = await server.request("POST", path, { body });
  if (status !== 201) throw new Error(text);
}
