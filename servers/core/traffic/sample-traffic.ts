import { Agent, type ClientRequest, request as httpRequest, type RequestOptions } from "node:http";

export type SendSample = (options: RequestOptions, body?: unknown) => void;

interface SampleTrafficOptions {
  readonly port: number;
  readonly intervalMs: number;
  readonly maxSockets: number;
  /** Called at each start; what it returns is called at each interval. */
  readonly begin: (send: SendSample) => () => void;
  readonly show: (view: { readonly running: boolean }) => void;
}

/** A client of our own on loopback that sends real requests, so that a new user sees something move. A body is sent as JSON. */
export function createSampleTraffic({ port, intervalMs, maxSockets, begin, show }: SampleTrafficOptions) {
  let stopCurrent: (() => void) | undefined;

  function play(): () => void {
    const agent = new Agent({ keepAlive: true, maxSockets });
    const open = new Set<ClientRequest>();
    const send: SendSample = ({ headers, ...options }, body) => {
      const request = httpRequest({
        ...{ host: "127.0.0.1", port, agent, ...options },
        headers: { ...headers, ...(body !== undefined && { "Content-Type": "application/json" }) },
      });
      open.add(request);
      request.on("response", (response) => response.resume());
      // The service may refuse or be stopped: then there is simply nothing to see.
      request.on("error", () => {});
      request.on("close", () => open.delete(request));
      request.end(body === undefined ? undefined : JSON.stringify(body));
    };
    const timer = setInterval(begin(send), intervalMs);
    return () => {
      clearInterval(timer);
      for (const request of open) request.destroy();
      agent.destroy();
    };
  }

  show({ running: false });
  return {
    start() {
      if (stopCurrent) return;
      stopCurrent = play();
      show({ running: true });
    },
    stop() {
      if (!stopCurrent) return;
      stopCurrent();
      stopCurrent = undefined;
      show({ running: false });
    },
  };
}
