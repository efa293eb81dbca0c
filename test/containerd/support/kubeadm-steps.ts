/**
 * A node joins by the documented steps alone: HTTPS requests, openssl for key and request, and nothing of k8ts.
 * `kubeadm-steps.ts ADDRESS TOKEN CA_HASH NODE` prints what it found, as JSON.
 */
import { execFileSync } from "node:child_process";
import { createHash, createHmac, X509Certificate } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";

const [address = "", token = "", caHash = "", node = ""] = process.argv.slice(2);
const [tokenId = "", tokenSecret = ""] = token.split(".");

interface Credentials {
  readonly ca?: string;
  readonly token?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** What the steps read of answers. */
interface Answer {
  readonly data: Readonly<Record<string, string>>;
  readonly metadata: { readonly name: string };
  readonly status?: { readonly certificate?: string };
}

function ask(method: string, path: string, { ca, token: bearer, cert, key }: Credentials, body?: object) {
  const type = method === "PATCH" ? "application/strategic-merge-patch+json" : "application/json";
  const headers = { "content-type": type, ...(bearer && { authorization: `Bearer ${bearer}` }) };
  const options = { method, headers, ca, cert, key, rejectUnauthorized: ca !== undefined, agent: false };
  return new Promise<{ status: number; json: Answer }>((resolve, reject) => {
    const call = request(`https://${address}${path}`, options, (response) => {
      let text = "";
      response.on("data", (chunk) => (text += chunk));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, json: JSON.parse(text) }));
    });
    call.on("error", reject);
    call.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

const expect = (is: boolean, what: string) => {
  if (!is) throw new Error(what);
};
const folder = mkdtempSync(join(tmpdir(), "k8ts-steps-"));
try {
  // 1. cluster-info: unverified, then by its signature and the pinned authority.
  const info = await ask("GET", "/api/v1/namespaces/kube-public/configmaps/cluster-info", {});
  const { kubeconfig, ...signatures } = info.json.data;
  const [header = "", empty, signature] = (signatures[`jws-kubeconfig-${tokenId}`] ?? "").split(".");
  const signed = `${header}.${Buffer.from(kubeconfig ?? "").toString("base64url")}`;
  expect(
    empty === "" && createHmac("sha256", tokenSecret).update(signed).digest("base64url") === signature,
    "the signature",
  );
  const { cluster } = parse(kubeconfig ?? "").clusters[0];
  const ca = Buffer.from(cluster["certificate-authority-data"], "base64").toString();
  const spki = new X509Certificate(ca).publicKey.export({ type: "spki", format: "der" });
  expect(`sha256:${createHash("sha256").update(spki).digest("hex")}` === caHash, "the hash of the authority");
  expect(cluster.server === `https://${address}`, `the server ${cluster.server}`);

  // 2. What kubeadm reads before it configures a kubelet.
  const bootstrap = { ca, token };
  const config = async (name: string) => {
    const { status, json } = await ask("GET", `/api/v1/namespaces/kube-system/configmaps/${name}`, bootstrap);
    expect(status === 200, `${name}: ${status}`);
    return json.data;
  };
  const whole = parse((await config("kubeadm-config")).ClusterConfiguration ?? "");
  const kubelet = parse((await config("kubelet-config")).kubelet ?? "");
  await config("kube-proxy");
  const taken = await ask("GET", `/api/v1/nodes/${node}`, bootstrap);
  expect(taken.status === 404, `a node of this name: ${taken.status}`);
  const secrets = await ask("GET", "/api/v1/namespaces/kube-system/secrets", bootstrap);

  // 3. The kubelet's certificate.
  const [keyFile, csrFile] = [join(folder, "key"), join(folder, "csr")];
  execFileSync("openssl", ["ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", keyFile]);
  execFileSync("openssl", [
    "req",
    "-new",
    "-key",
    keyFile,
    "-out",
    csrFile,
    "-subj",
    `/O=system:nodes/CN=system:node:${node}`,
  ]);
  const spec = {
    signerName: "kubernetes.io/kube-apiserver-client-kubelet",
    request: readFileSync(csrFile).toString("base64"),
    usages: ["digital signature", "client auth"],
  };
  const requests = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
  const asked = await ask("POST", requests, bootstrap, {
    apiVersion: "certificates.k8s.io/v1",
    kind: "CertificateSigningRequest",
    metadata: { generateName: "node-csr-" },
    spec,
  });
  expect(asked.status === 201, `the request: ${asked.status}`);
  let certificate: string | undefined;
  for (let turn = 0; turn < 100 && certificate === undefined; turn++) {
    const { json } = await ask("GET", `${requests}/${asked.json.metadata.name}`, bootstrap);
    certificate = json.status?.certificate;
    if (certificate === undefined) await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const cert = Buffer.from(certificate ?? "", "base64").toString();
  writeFileSync(join(folder, "crt"), cert);

  // 4. The Node, as itself.
  const self = { ca, cert, key: readFileSync(keyFile, "utf8") };
  const made = await ask("POST", "/api/v1/nodes", self, { apiVersion: "v1", kind: "Node", metadata: { name: node } });
  expect(made.status === 201, `the Node: ${made.status} ${JSON.stringify(made.json)}`);
  const other = await ask("POST", "/api/v1/nodes", self, {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: `${node}-2` },
  });
  // kubeadm notes the runtime's socket with the kubelet's own credentials.
  const annotations = { "kubeadm.alpha.kubernetes.io/cri-socket": "unix:///run/containerd/containerd.sock" };
  const noted = await ask("PATCH", `/api/v1/nodes/${node}`, self, { metadata: { annotations } });
  expect(noted.status === 200, `the annotation of the Node: ${noted.status}`);
  console.log(
    JSON.stringify({
      networking: whole.networking,
      kubernetesVersion: whole.kubernetesVersion,
      endpoint: whole.controlPlaneEndpoint,
      clusterDNS: kubelet.clusterDNS,
      serverTLSBootstrap: kubelet.serverTLSBootstrap,
      node: made.json.metadata.name,
      anotherNode: other.status,
      secrets: secrets.status,
    }),
  );
} finally {
  rmSync(folder, { recursive: true });
}
