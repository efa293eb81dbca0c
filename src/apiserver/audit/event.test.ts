/** Events that are written as templates are, to the letter, those that are written piece by piece. */
import { describe, expect, it } from "vitest";
import { ALLOW } from "../authz/verdict.ts";
import type { ApiRequest } from "../http/exchange.ts";
import { RequestInfos } from "../http/request-info.ts";
import type { UserInfo } from "../identity/user.ts";
import { type EventHead, EventWriter, type Findings, lineOf } from "./event.ts";

const PODS = "/api/v1/namespaces/ns/pods";
const ann: UserInfo = { name: "ann", uid: "1", groups: ["devs"], extra: { scope: ["a"] } };
const reason = { decision: "allow", reason: 'RBAC: allowed by "x"' } as const;

interface Row {
  readonly name: string;
  readonly method?: string;
  readonly path?: string;
  readonly user?: UserInfo;
  readonly headers?: Readonly<Record<string, string>>;
  readonly id?: string;
  readonly found?: Findings;
  /** Whether the event is a template. */
  readonly common: boolean;
}

const rows: readonly Row[] = [
  { name: "a read", path: `${PODS}/web`, found: { status: 200, verdict: ALLOW }, common: true },
  { name: "a read that has come", path: `${PODS}/web`, common: true },
  { name: "a read with a reason", path: `${PODS}/web`, found: { status: 200, verdict: reason }, common: true },
  { name: "a list", path: PODS, found: { status: 200 }, common: true },
  { name: "a subresource", path: `${PODS}/web/status`, found: { status: 200 }, common: true },
  { name: "an object like its subresource", path: `${PODS}/status/status`, found: { status: 200 }, common: true },
  { name: "a group", path: "/apis/apps/v1/namespaces/ns/deployments/web", found: { status: 404 }, common: true },
  { name: "no namespace", path: "/api/v1/nodes/a", found: { status: 200 }, common: true },
  { name: "a create", method: "POST", path: PODS, found: { status: 201, sent: { name: "web" } }, common: true },
  { name: "a user without groups", user: { name: "bob", groups: [] }, found: { status: 200 }, common: true },
  { name: "an agent", headers: { "user-agent": 'k"8' }, found: { status: 200 }, common: true },
  { name: "an escaped path", path: `${PODS}/%6f`, found: { status: 200 }, common: false },
  { name: "a query", path: `${PODS}?limit=1`, found: { status: 200 }, common: false },
  { name: "an id of the client", id: 'a "b', headers: { "audit-id": 'a "b' }, found: { status: 200 }, common: false },
  { name: "a proxy", headers: { "x-forwarded-for": "10.0.0.1" }, found: { status: 200 }, common: false },
  { name: "a status", found: { status: '{"code":404}' }, common: false },
  { name: "an impersonated user", found: { status: 200, impersonated: { name: "b", groups: [] } }, common: false },
  { name: "an object", found: { status: 200, responseObject: ["{}"] }, common: false },
  { name: "annotations", found: { status: 200, annotations: new Map([["a", "b"]]) }, common: false },
  { name: "a name to escape", method: "POST", path: PODS, found: { sent: { name: 'ü"' } }, common: false },
  { name: "a uid", method: "POST", path: PODS, found: { sent: { uid: "u" } }, common: false },
];

describe("an event", () => {
  const writer = new EventWriter();
  const infos = new RequestInfos();

  it.each(rows)(
    "with $name",
    ({ method = "GET", path = `${PODS}/web`, user = ann, headers = {}, found = {}, ...row }) => {
      const [plainPath = "", search = ""] = path.split("?");
      const query = new URLSearchParams(search);
      const request = { method, path: plainPath, target: path, query, headers } as unknown as ApiRequest;
      const head: EventHead = writer.begin(
        "Metadata",
        row.id ?? "id-1",
        request,
        infos.of(method, plainPath, query),
        user,
        1_000,
      );
      const event = writer.event(head, "ResponseComplete", 2_000, found);
      let templates = 0;
      event.writeTo({ template: () => templates++, piece: () => {} });
      expect(templates).toBe(row.common ? 1 : 0);
      const text = (written: typeof event) => Buffer.concat(lineOf(written)).toString();
      const plain = writer.event({ ...head, common: undefined }, "ResponseComplete", 2_000, found);
      expect(text(event)).toBe(text(plain));
      expect(JSON.parse(text(event))).toMatchObject({ kind: "Event", requestURI: path, stage: "ResponseComplete" });
    },
  );
});
