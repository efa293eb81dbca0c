/** A validating webhook on loopback that lets one object in, and not the other. */
import { once } from "node:events";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { realClock } from "#base";
import { createAuthority } from "#pki";
import { type Scenario, type Stage, step } from "./scenario.ts";

const HOOK = "check.example.com";

async function serve() {
  const authority = await createAuthority({ commonName: "webhook", clock: realClock() });
  const pair = await authority.issue({ commonName: "webhook", ipAddresses: ["127.0.0.1"], usages: ["server"] });
  const server = createServer({ cert: pair.certPem, key: pair.keyPem }, (request, response) => {
    let text = "";
    request.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    request.on("end", () => {
      const review = JSON.parse(text) as { request: { uid: string; object: { metadata: { name: string } } } };
      const { uid, object } = review.request;
      const allowed = object.metadata.name !== "bad";
      const status = allowed ? {} : { status: { message: "bad names are not let in" } };
      response.setHeader("content-type", "application/json");
      response.end(
        JSON.stringify({
          apiVersion: "admission.k8s.io/v1",
          kind: "AdmissionReview",
          response: { uid, allowed, ...status },
        }),
      );
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { server, authority, url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}

async function act({ kubectl, refused }: Stage): Promise<void> {
  const { server, authority, url } = await serve();
  try {
    await kubectl(["create", "namespace", "webhook"]);
    const configuration = {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "ValidatingWebhookConfiguration",
      metadata: { name: "flow-catalogue" },
      webhooks: [
        {
          name: HOOK,
          clientConfig: { url, caBundle: Buffer.from(authority.certPem).toString("base64") },
          rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }],
          namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "webhook" } },
          sideEffects: "None",
          admissionReviewVersions: ["v1"],
        },
      ],
    };
    await kubectl(["create", "-f", "-"], configuration);
    await refused(["create", "configmap", "bad", "-n", "webhook"]);
    await kubectl(["create", "configmap", "good", "-n", "webhook"]);
    await kubectl(["delete", "validatingwebhookconfiguration", "flow-catalogue"]);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

export const webhook: Scenario = {
  id: "webhook",
  title: "An admission webhook is called",
  about:
    "A ValidatingWebhookConfiguration makes the API server ask another program about each new ConfigMap of a namespace, after all that may change it and before it is persisted. What the program refuses is refused to the user in its words.",
  nodes: "simulated",
  act,
  flow: (all) =>
    all.filter(
      (each) =>
        each.type === "request" &&
        each.namespace === "webhook" &&
        each.resource === "configmaps" &&
        each.actor === "kubectl",
    ),
  steps: [
    step("kubectl ──► apiserver", /^POST configmaps$/, "a ConfigMap is asked for"),
    {
      says: "the API server asks the webhook",
      from: "apiserver",
      arrow: "call",
      to: `webhook ${HOOK}`,
      text: /^AdmissionReview CREATE configmaps$/,
    },
    { says: "which answers", from: `webhook ${HOOK}`, arrow: "answer", to: "apiserver", text: /^answered$/ },
    step("kubectl ◄── apiserver", /^40[03]/, "it is refused"),
    step("kubectl ──► apiserver", /^POST configmaps$/, "another one is asked for"),
    { says: "the API server asks again", from: "apiserver", arrow: "call", to: `webhook ${HOOK}` },
    { says: "which answers", from: `webhook ${HOOK}`, arrow: "answer", to: "apiserver", text: /^answered$/ },
    step("apiserver ══► store", /^good @/, "it is let in, and persisted"),
    step("kubectl ◄── apiserver", /^201$/, "the user is told"),
  ],
};
