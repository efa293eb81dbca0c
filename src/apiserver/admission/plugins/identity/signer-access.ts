/** Whether a user may do something for a signer: by the signer's name, or for all signers of its domain. */
import { resourceAttributes } from "../../../authz/attributes.ts";
import { type Authorizer, isAllowed } from "../../../authz/authorizer.ts";
import type { UserInfo } from "../../../identity/user.ts";

export async function mayForSigner(
  authorize: Authorizer,
  user: UserInfo,
  verb: "approve" | "attest" | "sign",
  signerName: string,
): Promise<boolean> {
  const [domain = ""] = signerName.split("/");
  for (const name of [signerName, `${domain}/*`]) {
    const about = { apiGroup: "certificates.k8s.io", apiVersion: "*", resource: "signers", name };
    if (await isAllowed(authorize, resourceAttributes(user, verb, about))) return true;
  }
  return false;
}
