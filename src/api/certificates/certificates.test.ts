import { describe, expect, it } from "vitest";
import { create, faults, update, updatePart, updateStatus } from "../testing/pure-server.ts";
import type { CertificateSigningRequest as RequestObject } from "../types/certificates-v1.ts";
import { CertificateSigningRequest as Request } from "./certificate-signing-request.ts";

const metadata = { name: "one" };
const pem = (type: string) => btoa(`-----BEGIN ${type}-----\nMA==\n-----END ${type}-----\n`);
const spec = { request: pem("CERTIFICATE REQUEST"), signerName: "example.com/s", usages: ["client auth"] };
const approved = { type: "Approved", status: "True", reason: "R" };

describe("a certificate request", () => {
  it("names the requestor, whatever the client sets", () => {
    const { object } = create(Request, { metadata, spec: { ...spec, username: "forged", groups: ["g"] } });
    expect((object as RequestObject).spec).toMatchObject({ username: "admin" });
    expect((object as RequestObject).spec).not.toHaveProperty("groups");
  });

  it.each<[object, readonly string[]]>([
    [{ request: pem("CERTIFICATE") }, [expect.stringContaining("PEM block type must be CERTIFICATE REQUEST")]],
    [{ usages: [] }, ["spec.usages: Required value"]],
    [{ usages: ["signing", "signing"] }, ['spec.usages[1]: Duplicate value: "signing"']],
    [{ signerName: "s" }, [expect.stringContaining("must be a fully qualified domain and path")]],
    [
      { expirationSeconds: 60 },
      ["spec.expirationSeconds: Invalid value: 60: may not specify a duration less than 600 seconds (10 minutes)"],
    ],
  ])("%j", (change, want) => expect(faults(Request, { spec: { ...spec, ...change } } as never)).toEqual(want));

  it("never changes its spec", () => {
    const { object } = create(Request, { metadata, spec });
    expect(update(Request, { metadata, spec: { ...spec, usages: ["signing"] } }, object).object).toMatchObject({
      spec,
    });
  });

  it("is approved through approval only, and stays so", () => {
    const { object } = create(Request, { metadata, spec });
    const status = { conditions: [approved], certificate: pem("CERTIFICATE") };
    expect(updateStatus(Request, { metadata, spec, status }, object).object).toMatchObject({
      status: { certificate: status.certificate, conditions: [] },
    });
    const done = updatePart(Request, "approval", { metadata, spec, status }, object).object as RequestObject;
    expect(done.status?.certificate).toBeUndefined();
    expect(done.status?.conditions?.[0]).toMatchObject({ ...approved, lastTransitionTime: "1970-01-01T00:00:00Z" });
    const denied = { conditions: [{ type: "Denied", status: "True" }] };
    expect(updatePart(Request, "approval", { metadata, spec, status: denied }, done).errors).toMatchObject([
      { detail: 'updates may not remove a condition of type "Approved"' },
    ]);
  });
});
