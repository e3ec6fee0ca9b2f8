import { Agent, request as httpRequest } from "node:http";
import { createSampleSource } from "./jobs/sample-events.ts";

const intervalMs = 350;

/** A client of our own on loopback that posts like an editor plugin and now and then reads, so that a new user sees something move. */
export function createSampleTraffic(options: { port: number; show: (view: { readonly running: boolean }) => void }) {
  let stopCurrent: (() => void) | undefined;

  function begin(): () => void {
    const agent = new Agent({ keepAlive: true, maxSockets: 2 });
    const source = createSampleSource(6);
    const open = new Set<() => void>();
    let turn = 0;

    function send(method: string, path: string, body?: string): void {
      const headers = {
        "User-Agent": "editor-plugin/0.5.0",
        "X-Plugin-Version": "0.5.0",
        ...(body && { "Content-Type": "application/json" }),
      };
      const request = httpRequest({ host: "127.0.0.1", port: options.port, agent, method, path, headers });
      const abort = () => request.destroy();
      open.add(abort);
      request.on("response", (response) => response.resume());
      // The service may refuse or be stopped: then there is simply nothing to see.
      request.on("error", () => {});
      request.on("close", () => open.delete(abort));
      request.end(body);
    }

    const timer = setInterval(() => {
      turn += 1;
      if (turn % 30 === 0) send("GET", "/stats");
      else if (turn % 30 === 15) send("GET", "/events?limit=10");
      else send("POST", "/events", JSON.stringify(source.event()));
    }, intervalMs);
    return () => {
      clearInterval(timer);
      for (const abort of open) abort();
      agent.destroy();
    };
  }

  options.show({ running: false });
  return {
    start() {
      if (stopCurrent) return;
      stopCurrent = begin();
      options.show({ running: true });
    },
    stop() {
      if (!stopCurrent) return;
      stopCurrent();
      stopCurrent = undefined;
      options.show({ running: false });
    },
  };
}
