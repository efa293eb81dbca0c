import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { nodeTools } from "#cluster";
import { publishAtStart } from "./publish.ts";
import { dataDirOf } from "./which-cluster.ts";

it("what is published at a start is kept, in place of what the port led to before", async () => {
  const folder = mkdtempSync(join(tmpdir(), "k8ts-publish-"));
  const dir = dataDirOf({ dataDir: join(folder, "data") });
  const { publicationText, readWanted } = await nodeTools();
  const wanted = async () => (await readWanted(dir)).map(publicationText);

  await publishAtStart({}, dir);
  expect(existsSync(dir.path)).toBe(false);
  await publishAtStart({ publish: ["8080:web/80", "9090:shop/api:http"] }, dir);
  expect(await wanted()).toEqual(["8080:default/web:80", "9090:shop/api:http"]);
  await publishAtStart({ publish: ["8080:other/80"] }, dir);
  expect(await wanted()).toEqual(["9090:shop/api:http", "8080:default/other:80"]);

  await expect(publishAtStart({ publish: ["web"] }, dir)).rejects.toThrow("is not PORT:SERVICE/PORT");
  expect(await wanted()).toHaveLength(2);
  rmSync(folder, { recursive: true });
});
