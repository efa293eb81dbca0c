/** `node scripts/pictures.ts` takes the pictures of the README: the dashboard of a cluster with a small shop. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { startBrowser } from "../test/support/browser.ts";
import { Home } from "../test/support/k8ts.ts";
import { QUICK_FIGURES, startSimulated } from "../test/support/simulated.ts";
import { CommandLine, tool } from "../test/support/tools.ts";

const FOLDER = join(import.meta.dirname, "..", "docs", "pictures");
const SIZE = { width: 1280, height: 720 };

const deployment = (name: string, replicas: number, annotations: Readonly<Record<string, string>>) => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name, namespace: "shop" },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name }, annotations },
      spec: {
        containers: [{ name, image: `example/${name}:1`, resources: { requests: { cpu: "200m", memory: "128Mi" } } }],
      },
    },
  },
});
const usage = (cpu: string) => ({ "simulated.k8ts.io/cpu-usage": cpu });
const shop = [
  { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } },
  deployment("web", 4, usage("60%")),
  deployment("orders", 3, usage("25%")),
  deployment("stock", 2, usage("10%")),
  deployment("mailer", 1, { "simulated.k8ts.io/run-for": "1s", "simulated.k8ts.io/exit-code": "3" }),
];

const home = new Home();
const browser = await startBrowser();
try {
  const up = await startSimulated(home, 3, ...QUICK_FIGURES);
  const kubectl = new CommandLine(tool("kubectl"), () => home);
  await kubectl.given(...shop).ok("apply", "-f", "-");
  const page = await browser.newPage({ viewport: SIZE });
  page.setDefaultTimeout(120_000);
  await page.goto(/dashboard +(http\S+)/.exec(up.stdout)?.[1] ?? "");
  await page.getByRole("navigation", { name: "Pages" }).waitFor();
  const go = (path: string) => page.evaluate(`location.hash = ${JSON.stringify(path)}`);
  const take = (name: string) => page.screenshot({ path: join(FOLDER, `${name}.png`) });
  mkdirSync(FOLDER, { recursive: true });

  await go("#/pods?namespace=shop");
  await page.getByRole("row", { name: /mailer.*CrashLoopBackOff/ }).waitFor();
  await page
    .getByRole("img", { name: /^CPU: 0\.1/ })
    .first()
    .waitFor();
  await take("pods");
  const crashed = page.getByRole("row", { name: /mailer/ });
  await crashed.click();
  await page.getByRole("link", { name: "Why" }).click();
  await page.getByRole("region", { name: "Why" }).waitFor();
  await take("why");
  await page.emulateMedia({ colorScheme: "dark" });
  await go("#/flows?of=apps%2Fdeployments%20shop%20stock");
  await page.getByRole("slider", { name: "Time" }).focus();
  await page.getByRole("button", { name: "scheduler", exact: true }).waitFor();
  // The beginning of the flow, not its end.
  await page.locator(".diagram").evaluate((element) => {
    element.scrollTop = 0;
  });
  await page
    .getByRole("option", { name: /POST deployments/ })
    .first()
    .waitFor();
  await take("flow");
} finally {
  await browser.close();
  await home[Symbol.asyncDispose]();
}
