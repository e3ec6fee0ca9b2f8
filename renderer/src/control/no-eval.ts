import { config } from "zod";

// The content security policy forbids code made from text; zod would try it once for each schema, and the browser would report it.
config({ jitless: true });
