/** The events service in a process of its own: `serve-events.ts <data dir> <config as JSON>`; prints its port, stops on SIGTERM. */
import { runService } from "../../servers/core/service/run-service.ts";
import { eventsService } from "../../servers/events/events-service.ts";

const [dataDir = "", config = "{}"] = process.argv.slice(2);
const running = await runService(eventsService, {
  dataDir,
  config: JSON.parse(config) as Record<string, unknown>,
  onBatch: ({ seq }) => void setImmediate(() => running.outbox.ack(seq)),
});
process.stdout.write(`${new URL(running.endpoints[0]?.url ?? "").port}\n`);
process.once("SIGTERM", () => void running.stop().then(() => process.exit(0)));
