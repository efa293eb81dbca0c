/**
 * The schemas of well-known projects' custom resources, from npm packages that were made of the projects' own definitions, into
 * .tools/operator-schemas/<project>. Tests build CustomResourceDefinitions of them. Later versions of these packages hold programs that validate
 * instead of schemas, so the versions stay.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fetchPackage } from "./npm-package.mjs";
import { intoTools, run, step, tools } from "./steps.mjs";

const PACKAGES = {
  "argo-cd@2.5.0": "VwNH19QfRZZlElSu9J3w9ZG+SfrLl+6FVR43hpEpVAaxn0kYXrjbEOOsCnfWNh35xvGu5wb62f8uVzhU+fSmoQ==",
  "cert-manager@4.3.1": "TPSQxSOWv3iCkvQFm0/ffRHc978SlbI1pMyaKGtLQvY5GqZxGpxiT2uYfwZGs4X18ZGCI4Zb869cjQmRKx34iA==",
  "flux-cd@2.2.1": "hy5+rstlSKYNg5ESkRQlq1EMjocY/sD+O9ot4Vi9ELm8UT1E9imlp0k70tq+/83xt9XV1GFaMawoBjbAgmZOqQ==",
  "gateway-api@0.5.1": "VsB6ipjcLCvOPmAbqxiK9dEEwD/yYGs5lkBTRFG2EcVGFy4o+JMWrTHuAXvaLtycGG67/qWJhHW8MtUhKJLdBg==",
  "istio@2.3.0": "tA3/4u54DAVJerwCKDC/kJmBMgDfjuc2OC+bigI8oqi+1aZGmJco/c6txfLYXSevdFcgeIWf6hQ/eyxj6GyZ2g==",
  "keda@0.3.2": "vEDh4UY1+ZmsE9iZN93zHmLGEf44lXd2Q59nLBgGb04SoDbP7p2QwY7CZ1WZCw8KayQUP/dhk5T8+cXcrJuQVg==",
  "prometheus-operator@4.0.0":
    "3d2aR/ezuAa0KLsbG618n1QUf8kQP0UV42FNGR6/+sec7/URCZqzOjy6sDBtHob3d/1/pBdov3PqUDK/kl9sFQ==",
  "sealed-secrets@2.0.2": "Nsxc7Hj7hUydp6NYbmpDlr3nhBLCQtrisZ05QF3g8gL9ctKrRh7Djz0QaJlcN+rueDfR0fBdfqM8Nz/EE7RezA==",
};

export function installOperatorSchemas() {
  const wanted = Object.keys(PACKAGES).join("\n");
  const stamp = join(tools, "operator-schemas", "packages");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return;
  step("Fetching the schemas of eight operators' custom resources from npm into .tools/ (for tests, 1.1 MB)", () => {
    intoTools("operator-schemas", (work, unpacked) => {
      mkdirSync(unpacked);
      for (const [name, sha512] of Object.entries(PACKAGES)) {
        const [project] = name.split("@");
        const sentence = `the schemas of ${project} could not be fetched from npm`;
        const folder = join(work, project);
        mkdirSync(folder);
        const archive = fetchPackage(`@kubernetes-models/${name}`, sha512, { folder, sentence });
        run("tar", ["-xzf", archive], { sentence: `the schemas of ${project} could not be unpacked`, cwd: folder });
        renameSync(join(folder, "package"), join(unpacked, project));
      }
      writeFileSync(join(unpacked, "packages"), wanted);
    });
  });
}
