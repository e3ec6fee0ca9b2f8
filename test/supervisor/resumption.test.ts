import { expect, it } from "vitest";
import { createTestDashboard } from "./dashboard.ts";
import { type Supervised, supervise } from "./supervise.ts";

const act = ({ dashboard }: Supervised, action: string, params = {}) => dashboard.call("service.action", { id: "http", action, params });

/** How often a line was written. */
async function lines({ dashboard }: Supervised, text: string): Promise<number> {
  return (await dashboard.call("log.read", { source: "http", text })).lines.length;
}

async function startWithSample(): Promise<Supervised> {
  const supervised = await supervise();
  await supervised.supervisor.start("http");
  const views = supervised.dashboard.follow("view/http");
  await act(supervised, "sample.start", { rate: 7 });
  await act(supervised, "view", { name: "goes on", value: "a view" });
  await views.until(({ name }) => name === "goes on");
  return supervised;
}

it("[BL-313] sample traffic and what a service resumes go on after a restart, with their parameters", async () => {
  const supervised = await startWithSample();
  await supervised.dashboard.call("service.restart", { id: "http" });
  await expect.poll(() => lines(supervised, "sample traffic at 7")).toBe(2);
  await expect.poll(() => lines(supervised, "goes on with a view")).toBe(1);
});

it("[BL-313] they go on after a crash", async () => {
  const supervised = await startWithSample();
  await act(supervised, "crash").catch(() => {});
  await expect.poll(() => lines(supervised, "sample traffic at 7")).toBe(2);
});

it("[BL-313] a stop ends them", async () => {
  const supervised = await startWithSample();
  await supervised.dashboard.call("service.stop", { id: "http" });
  await supervised.dashboard.call("service.start", { id: "http" });
  await act(supervised, "log", { level: "info", text: "started again" });
  await expect.poll(() => lines(supervised, "started again")).toBe(1);
  expect(await lines(supervised, "sample traffic at 7")).toBe(1);
  expect(await lines(supervised, "goes on with")).toBe(0);
});

it("[BL-361] the status of a service says whether it sends itself sample traffic", async () => {
  const { supervisor, dashboard } = await supervise();
  await supervisor.start("http");
  const statuses = dashboard.follow("status");
  await dashboard.call("service.action", { id: "http", action: "view", params: { name: "sample", value: { running: true, params: {} } } });
  await statuses.until(({ id, playsSample }) => id === "http" && playsSample);
  // States that follow each other quickly may be sent as one.
  const stops = statuses.next(({ id, status }) => id === "http" && status.state !== "running");
  await dashboard.call("service.stop", { id: "http" });
  expect((await stops).playsSample).toBe(false);
});

it("[BL-575] who starts all with sample traffic may leave before they run", async () => {
  const supervised = await supervise({ flags: { mqtt: { starts: "fails" } } });
  const { dashboard, supervisor, statuses } = supervised;
  dashboard.send({ type: "call", id: 1_000, name: "service.startAll", params: { sample: true } });
  await statuses.until(({ status }) => status.state === "starting");
  dashboard.close();
  const another = createTestDashboard(supervisor.attach);
  const sent = async () => (await another.call("log.read", { text: "sample traffic at 1" })).lines.map(({ source }) => source).sort();
  await expect.poll(sent).toEqual(["events", "http"]);
  another.close();
});
