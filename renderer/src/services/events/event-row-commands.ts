import { httpRowCommands } from "../../inspectors/http-row-commands.ts";
import { kindOfExchange, recordedTries } from "./try-kinds.ts";

export const eventRowCommands = httpRowCommands((exchange) => recordedTries.give("events", kindOfExchange(exchange)));
