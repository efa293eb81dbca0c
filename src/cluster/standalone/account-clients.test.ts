import { describe, expect, it } from "vitest";
import type { core } from "#api";
import { silentLogger, VirtualClock } from "#base";
import { Client, type ResourceName, type Transport, type TransportRequest } from "#client";
import { accountClients } from "./account-clients.ts";

const PODS: ResourceName = { apiVersion: "v1", kind: "Pod", plural: "pods", namespaced: true };

/** An API server that gives out tokens, and takes those that it has not revoked. */
function fakeServer() {
  const clock = new VirtualClock();
  const accounts = new Set<string>();
  const issued: string[] = [];
  const valid = new Set<string>();
  const seen: string[] = [];
  const server = { down: false };
  const answer = (status: number, body: object) => ({
    status,
    headers: {},
    body: (async function* () {
      yield Buffer.from(JSON.stringify(body));
    })(),
  });
  const failure = (code: number, reason: string) =>
    answer(code, { kind: "Status", apiVersion: "v1", status: "Failure", code, reason, message: reason });
  const manager: Transport = {
    async send({ target, value }: TransportRequest) {
      if (server.down) return failure(500, "InternalError");
      const account = /serviceaccounts\/([\w-]+)\/token/.exec(target)?.[1];
      if (account === undefined) {
        accounts.add((value as core.ServiceAccount).metadata?.name ?? "");
        return answer(201, {});
      }
      if (!accounts.has(account)) return failure(404, "NotFound");
      const token = `${account}-${issued.length + 1}`;
      issued.push(token);
      valid.add(token);
      return answer(201, { spec: { expirationSeconds: 3600 }, status: { token } });
    },
    close: async () => {},
  };
  const transport: Transport = {
    async send({ headers }: TransportRequest) {
      const token = (headers.authorization ?? "").replace("Bearer ", "");
      seen.push(token);
      return valid.has(token) ? answer(200, { metadata: {}, items: [] }) : failure(401, "Unauthorized");
    },
    close: async () => {},
  };
  const client = new Client({ transport: manager, clock });
  const clientOf = accountClients({ client, transport, userAgent: "test", clock, log: silentLogger });
  return { clock, server, accounts, issued, valid, seen, clientOf };
}

describe("clients of service accounts", () => {
  it("make the account that is missing, ask for a token once, and use it", async () => {
    const { accounts, issued, seen, clientOf } = fakeServer();
    const pods = clientOf("deployment-controller").of(PODS);
    await Promise.all([pods.list(), pods.list(), pods.list()]);
    expect([...accounts]).toEqual(["deployment-controller"]);
    expect(issued).toEqual(["deployment-controller-1"]);
    expect(seen).toEqual(Array(3).fill("deployment-controller-1"));
  });

  it("renew it well before it ends, and keep the old one while they cannot", async () => {
    const { clock, server, seen, clientOf } = fakeServer();
    const pods = clientOf("job-controller").of(PODS);
    await pods.list();
    await clock.advance(40 * 60_000);
    await pods.list();
    expect(seen.at(-1)).toBe("job-controller-1");
    await clock.advance(10 * 60_000);
    server.down = true;
    await pods.list();
    expect(seen.at(-1)).toBe("job-controller-1");
    server.down = false;
    await clock.advance(60_000);
    await pods.list();
    expect(seen.at(-1)).toBe("job-controller-2");
    // Past its end there is nothing left to use.
    await clock.advance(3600_000);
    server.down = true;
    await expect(pods.list()).rejects.toMatchObject({ reason: "InternalError" });
  });

  it("replace a token that the server no longer takes, and send the request once more", async () => {
    const { valid, seen, clientOf } = fakeServer();
    const pods = clientOf("job-controller").of(PODS);
    await pods.list();
    valid.clear();
    await pods.list();
    expect(seen).toEqual(["job-controller-1", "job-controller-1", "job-controller-2"]);
  });

  it("do not go on forever where no token is taken", async () => {
    const { valid, seen, clientOf } = fakeServer();
    valid.add = () => valid;
    await expect(clientOf("job-controller").of(PODS).list()).rejects.toMatchObject({ reason: "Unauthorized" });
    expect(seen).toHaveLength(2);
  });
});
