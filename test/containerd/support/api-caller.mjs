// Runs inside of a Pod: asks the API server who it is and for its Pods, with the token that its file holds now, and again with each other token that it has had.
// A line of JSON for each new token.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { request } from "node:https";

const ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";
const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = process.env;
const namespace = readFileSync(`${ACCOUNT}/namespace`, "utf8");

function ask(token, method, path, body) {
  const { promise, resolve, reject } = Promise.withResolvers();
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const ca = readFileSync(`${ACCOUNT}/ca.crt`);
  const asking = request({ host, port, ca, method, path, headers, timeout: 5000 }, (response) => {
    let text = "";
    response.setEncoding("utf8").on("data", (chunk) => {
      text += chunk;
    });
    response.on("end", () => resolve({ code: response.statusCode, answer: JSON.parse(text) }));
  });
  asking.on("error", reject).end(body && JSON.stringify(body));
  return promise;
}

async function tell(token) {
  const review = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
  const me = await ask(token, "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", review);
  const pods = await ask(token, "GET", `/api/v1/namespaces/${namespace}/pods`);
  const secrets = await ask(token, "GET", `/api/v1/namespaces/${namespace}/secrets`);
  return {
    token: createHash("sha256").update(token).digest("hex").slice(0, 8),
    user: me.answer.status?.userInfo,
    pods: pods.answer.items?.map(({ metadata }) => metadata.name),
    secrets: secrets.code,
  };
}

const had = [];
for (;;) {
  const token = readFileSync(`${ACCOUNT}/token`, "utf8");
  if (!had.includes(token)) {
    try {
      const told = await Promise.all([token, ...had].map(tell));
      had.push(token);
      console.log(JSON.stringify(told));
    } catch (error) {
      console.error(error.message);
    }
  }
  await new Promise((resolve) => setTimeout(resolve, 200));
}
