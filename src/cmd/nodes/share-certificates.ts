/** Lets other machines become control planes for two hours. */
import { controlPlaneTools, type DataDir, etcdTools } from "#cluster";
import { adminClient } from "../inspect/admin-client.ts";

/** Uploads the certificates, sealed; returns the certificate key. */
export async function sharedCertificates(dir: DataDir): Promise<string> {
  const { memberOf } = await etcdTools();
  await memberOf(dir);
  const { uploadCerts } = await controlPlaneTools();
  await using admin = await adminClient(dir);
  return await uploadCerts({ ...admin, pkiDir: dir.pki });
}
