import { Command, type Redis } from "ioredis";
import { errorText } from "../../core/service/service-error.ts";

/** Prefix of all keys; another database (`redis://host/1`) is another cluster. */
export const keyPrefix = "backlot:mqtt:";
/** Channels in Redis are shared by all databases. */
export const channelOf = (database: number): string => `${keyPrefix}${database}`;
/** Other brokers say there whether they are behind (`Arrears`). Who subscribes shows that the broker still receives frames, which its heartbeat shows only later. */
export const presenceOf = (channel: string, brokerId: string): string => `${channel}:${brokerId}`;

/** Most frames kept for disconnected brokers. */
const journalLength = 50_000;
/** A session in handover may need frames slightly older than those that the brokers need. */
const journalMarginMs = 60_000;
/** How long the record that a broker was declared dead is kept. */
const buriedSeconds = 7 * 86_400;
const waitingAtOnce = 500;
const groupsAtOnce = 100;
/** How long one broker alone restores an emptied Redis before another one may try. */
const refillingMs = 60_000;

/**
 * Each script is atomic. ARGV[1] is the prefix, ARGV[2] the calling broker.
 * Keys: `journal`, a stream of frames; `brokers`, a set; for each broker `broker:`, with the journal position that its stored sessions
 * include, `alive:`, which expires, and `buried:`, once it was declared dead; `owners`, from client identifier to broker;
 * `session:` for each client; `messages`, by name, and `message-uses`, how many deliveries and lists name each; `members`, from group and
 * client to broker; `waiting:`, the names of the messages that wait for a group.
 */
const begin = `
local prefix, me = ARGV[1], ARGV[2]
local journal = prefix .. 'journal'
local own = prefix .. 'broker:' .. me
-- commits of earlier terms are refused from here on
local function beginTerm(term)
  if tonumber(redis.call('HGET', own, 'term') or 0) < tonumber(term) then redis.call('HSET', own, 'term', term) end
end
-- nothing that it sends counts from here on; what counted before is known by its number
local function bury(dead)
  local seq = redis.call('HGET', prefix .. 'broker:' .. dead, 'seq') or '0'
  redis.call('SET', prefix .. 'buried:' .. dead, seq, 'NX', 'EX', ${buriedSeconds})
end
-- for this broker alone, for as long as it lives
local function hold(name)
  local holder = redis.call('GET', prefix .. name)
  if holder and holder ~= me and redis.call('EXISTS', prefix .. 'alive:' .. holder) == 1 then return false end
  redis.call('SET', prefix .. name, me)
  return true
end
`;
/**
 * `journal-sizes` has the id and the bytes of each entry, the oldest first, `journal-bytes` their sum, and `journal-cut` the last id that
 * was removed.
 */
const journalFunctions = `
local sizes, sum = prefix .. 'journal-sizes', prefix .. 'journal-bytes'
local function parse(entry) return string.match(entry, '^(%d+)-(%d+) (%d+)$') end
-- removes the oldest entries, as long as the function wants it
local function cut(isOld)
  local time, count
  while true do
    local entry = redis.call('LINDEX', sizes, 0)
    if not entry then break end
    local itsTime, itsCount, bytes = parse(entry)
    if not isOld(tonumber(itsTime)) then break end
    redis.call('LPOP', sizes)
    redis.call('DECRBY', sum, bytes)
    time, count = itsTime, itsCount
  end
  if not time then return end
  redis.call('XTRIM', journal, 'MINID', time .. '-' .. string.format('%.0f', tonumber(count) + 1))
  redis.call('SET', prefix .. 'journal-cut', time .. '-' .. count)
end
local function add(frame, most)
  local id = redis.call('XADD', journal, '*', 'f', frame)
  redis.call('RPUSH', sizes, id .. ' ' .. #frame)
  redis.call('INCRBY', sum, #frame)
  cut(function() return tonumber(redis.call('GET', sum)) > most or redis.call('LLEN', sizes) > ${journalLength} end)
  return id
end
`;

const endOfJournal = `
local last, deleted = '0-0', redis.call('GET', prefix .. 'journal-cut') or '0-0'
if redis.call('EXISTS', journal) == 1 then
  local info = redis.call('XINFO', 'STREAM', journal)
  for at = 1, #info, 2 do
    if info[at] == 'last-generated-id' then last = info[at + 1] end
  end
end`;

/**
 * Uses are counted here, by what is there and in the same step as the deliveries: whatever becomes of a broker, the count is right, and a
 * message goes with the last delivery that names it (`deliveryText`).
 */
const messageFunctions = `
local messages, uses, released, lacksMessage = prefix .. 'messages', prefix .. 'message-uses', {}, false
local function use(name, count, body)
  if body ~= '' then redis.call('HSET', messages, name, body)
  elseif redis.call('HEXISTS', messages, name) == 0 then lacksMessage = true end
  redis.call('HINCRBY', uses, name, count)
end
local function release(name)
  if name then released[name] = (released[name] or 0) + 1 end
end
-- what is in a list of waiting messages; an earlier version put the message itself there
local function releaseWaiting(list, count)
  for _ = 1, count do
    local name = redis.call('LPOP', list)
    if not name then break end
    release(string.match(name, '^[%w_-]+$'))
  end
end
local function endSession(session)
  if redis.call('TYPE', session).ok == 'hash' then
    local cursor = '0'
    repeat
      local page = redis.call('HSCAN', session, cursor, 'MATCH', 'd*', 'COUNT', 1000)
      cursor = page[1]
      for field = 2, #page[2], 2 do release(string.match(page[2][field], '^%d %d (%S+)')) end
    until cursor == '0'
  end
  redis.call('DEL', session)
end
local function settle()
  for name, count in pairs(released) do
    if redis.call('HINCRBY', uses, name, -count) <= 0 then
      redis.call('HDEL', uses, name)
      redis.call('HDEL', messages, name)
    end
  end
end
`;

const sources = {
  /**
   * The changes of one tick: position, seq, most bytes of the journal, term, then the operations as `packOperations` has them.
   * Returns 'done', or 'lacking' if a message that a delivery names is not there, and the clients whose sessions stay here because the
   * broker that requested them is dead; 'outdated' if the term is not the one of the last `join` or `rejoin`, or that is forgotten.
   */
  commit: `${begin}
${journalFunctions}
${messageFunctions}
if redis.call('EXISTS', prefix .. 'buried:' .. me) == 1 then return { 'buried' } end
if redis.call('HGET', own, 'term') ~= ARGV[6] then return { 'outdated' } end
redis.call('HSET', own, 'position', ARGV[3], 'seq', ARGV[4])
local journalBytes = tonumber(ARGV[5])
local given, at, kept = cmsgpack.unpack(ARGV[7]), 1, {}
while at <= #given do
  local operation, first, last = given[at], at + 2, at + 1 + tonumber(given[at + 1])
  if operation == 'call' then
    redis.call(unpack(given, first, last))
  elseif operation == 'use messages' then
    for field = first, last, 3 do use(given[field], given[field + 1], given[field + 2]) end
  elseif operation == 'release messages' then
    for field = first + 1, last, 2 do
      if redis.call('HDEL', given[first], given[field]) == 1 then release(given[field + 1]) end
    end
  elseif operation == 'end session' then
    endSession(given[first])
  elseif operation == 'wait' then
    local count = redis.call('RPUSH', given[first], given[first + 1])
    releaseWaiting(given[first], count - tonumber(given[last]))
  elseif operation == 'wait no more' then
    releaseWaiting(given[first], tonumber(given[last]))
  elseif operation == 'share' then
    local channel, envelope, frameLength, durable = unpack(given, first, last)
    local id = ''
    if durable == '1' then id = add(string.sub(envelope, -tonumber(frameLength)), journalBytes) end
    redis.call('PUBLISH', channel, envelope .. id .. string.char(#id))
  elseif operation == 'surrender' then
    local client, to, at = unpack(given, first, last)
    redis.call('HSET', prefix .. 'session:' .. client, 'at', at)
    local alive = redis.call('EXISTS', prefix .. 'alive:' .. to) == 1 and redis.call('EXISTS', prefix .. 'buried:' .. to) == 0
    if alive then redis.call('HSET', prefix .. 'owners', client, to) else kept[#kept + 1] = client end
  elseif operation == 'release' then
    if redis.call('HGET', prefix .. 'owners', given[first]) == me then redis.call('HDEL', prefix .. 'owners', given[first]) end
  elseif operation == 'inherit' then
    local dead = given[first] .. ' '
    local all = redis.call('HGETALL', prefix .. 'members')
    for field = 1, #all, 2 do
      if string.sub(all[field + 1], 1, #dead) == dead then redis.call('HSET', prefix .. 'members', all[field], me .. ' away') end
    end
  elseif operation == 'remove' then
    local key, field, value = unpack(given, first, last)
    if redis.call('HGET', key, field) == value then redis.call('HDEL', key, field) end
  end
  at = last + 1
end
settle()
return { lacksMessage and 'lacking' or 'done', kept }
`,
  /** ARGV[3] milliseconds, ARGV[4] term. Returns the position, and the members of shared subscriptions. */
  join: `${begin}
${endOfJournal}
redis.call('HSET', own, 'position', last, 'seq', 0)
beginTerm(ARGV[4])
redis.call('SADD', prefix .. 'brokers', me)
redis.call('SET', prefix .. 'alive:' .. me, 1, 'PX', ARGV[3])
return { last, redis.call('HGETALL', prefix .. 'members') }
`,
  /**
   * ARGV[3] milliseconds, ARGV[4] position, ARGV[5] term. 'buried': the others took over; with the number of the last frame that was applied. 'emptied':
   * this Redis has lost data, and this broker is the first to notice. Then the position to continue from, 1 if the journal no longer
   * reaches back to it, and the members of shared subscriptions.
   */
  rejoin: `${begin}
${journalFunctions}
local buried = redis.call('GET', prefix .. 'buried:' .. me)
if buried then return { 'buried', buried } end
local function older(one, other)
  local a, b = string.match(one, '^(%d+)-(%d+)$')
  local c, d = string.match(other, '^(%d+)-(%d+)$')
  a, b, c, d = tonumber(a), tonumber(b), tonumber(c), tonumber(d)
  return a < c or (a == c and b < d)
end
${endOfJournal}
local position = ARGV[4]
local empty = redis.call('SISMEMBER', prefix .. 'brokers', me) == 0
if older(last, position) then
  empty = true
  position = add('', math.huge)
end
redis.call('SADD', prefix .. 'brokers', me)
redis.call('SET', prefix .. 'alive:' .. me, 1, 'PX', ARGV[3])
redis.call('HSET', own, 'position', position)
beginTerm(ARGV[5])
local first = empty and redis.call('SET', prefix .. 'refilling', me, 'NX', 'PX', ${refillingMs})
return { first and 'emptied' or 'remembered', position, older(position, deleted) and 1 or 0, redis.call('HGETALL', prefix .. 'members') }
`,
  /** ARGV[3] milliseconds. 'known', or why the broker has to rejoin; the other brokers, each with 1 if alive, and groups with waiting messages. */
  beat: `${begin}
if redis.call('EXISTS', prefix .. 'buried:' .. me) == 1 then return { 'buried', {} } end
if redis.call('SISMEMBER', prefix .. 'brokers', me) == 0 then return { 'emptied', {} } end
redis.call('SET', prefix .. 'alive:' .. me, 1, 'PX', ARGV[3])
local others = {}
for _, other in ipairs(redis.call('SMEMBERS', prefix .. 'brokers')) do
  if other ~= me then others[#others + 1] = { other, redis.call('EXISTS', prefix .. 'alive:' .. other) } end
end
return { 'known', others, redis.call('SRANDMEMBER', prefix .. 'waiting-groups', ${groupsAtOnce}) }
`,
  /** ARGV[3] client, [4] 1 to read the session too, [5] 1 if a broker without a heartbeat counts as dead. */
  claim: `${begin}
local session = prefix .. 'session:' .. ARGV[3]
local owner = redis.call('HGET', prefix .. 'owners', ARGV[3])
if owner and owner ~= me then
  if ARGV[5] == '0' or redis.call('EXISTS', prefix .. 'alive:' .. owner) == 1 then return { 'theirs', owner, {} } end
  bury(owner)
  if redis.call('EXISTS', session) == 1 and redis.call('HEXISTS', session, 'at') == 0 then
    local state = redis.call('HMGET', prefix .. 'broker:' .. owner, 'position', 'seq')
    if state[1] then redis.call('HSET', session, 'at', state[1] .. ' ' .. state[2] .. ' ' .. owner) end
  end
end
redis.call('HSET', prefix .. 'owners', ARGV[3], me)
return { 'mine', '', ARGV[4] == '1' and redis.call('HGETALL', session) or {} }
`,
  /** ARGV[3] a broker without a heartbeat. The first caller takes it over and gets the position up to which it delivered what was assigned to it. */
  bury: `${begin}
local dead = ARGV[3]
if redis.call('EXISTS', prefix .. 'alive:' .. dead) == 1 then return {} end
if redis.call('SISMEMBER', prefix .. 'brokers', dead) == 0 then return {} end
if not hold('burying:' .. dead) then return {} end
bury(dead)
local state = redis.call('HMGET', prefix .. 'broker:' .. dead, 'position', 'acted')
return { state[2] or state[1] or '' }
`,
  /** ARGV[3] a dead broker, after all its sessions were taken over. */
  forget: `${begin}
redis.call('SREM', prefix .. 'brokers', ARGV[3])
redis.call('DEL', prefix .. 'broker:' .. ARGV[3], prefix .. 'burying:' .. ARGV[3])
return 'done'
`,
  /**
   * ARGV[3] a group. Returns its waiting messages, oldest first, and locks them with `taking:` until the broker removes the lock or is
   * dead. 'busy' if another broker has the lock.
   */
  waiting: `${begin}
local messages = redis.call('LRANGE', prefix .. 'waiting:' .. ARGV[3], 0, ${waitingAtOnce - 1})
if #messages == 0 then
  redis.call('SREM', prefix .. 'waiting-groups', ARGV[3])
  return { 'none' }
end
if not hold('taking:' .. ARGV[3]) then return { 'busy' } end
return { 'taken', messages }
`,
  /** Trims the journal of entries that no broker needs. */
  trim: `${begin}
${journalFunctions}
local oldest
for _, broker in ipairs(redis.call('SMEMBERS', prefix .. 'brokers')) do
  local position = redis.call('HGET', prefix .. 'broker:' .. broker, 'position')
  local time = position and tonumber(string.match(position, '^%d+'))
  if time and (not oldest or time < oldest) then oldest = time end
end
if oldest then cut(function(time) return time < oldest - ${journalMarginMs} end) end
return 'done'
`,
  /**
   * ARGV[3] the prefix of the brokers' channels (`presenceOf`). Positions in the journal of the living brokers that receive frames: for the
   * others, such as one that was killed, Redis holds nothing back.
   */
  positions: `${begin}
local positions = {}
for _, broker in ipairs(redis.call('SMEMBERS', prefix .. 'brokers')) do
  local receives = redis.call('EXISTS', prefix .. 'alive:' .. broker) == 1 and redis.call('PUBSUB', 'NUMSUB', ARGV[3] .. broker)[2] > 0
  local position = receives and redis.call('HGET', prefix .. 'broker:' .. broker, 'position')
  if position then positions[#positions + 1] = position end
end
return positions
`,
} as const;

export type ScriptName = keyof typeof sources;
export type ScriptArgument = string | number | Buffer;
/** A reply of Redis; strings are buffers. */
export type Reply = Buffer | number | null | readonly Reply[];

export class ClusterScripts {
  /**
   * Of this broker's commits: each `load` begins one. A commit that comes late, by a connection that was given up, must not change what has
   * been written since.
   */
  term = 0;
  private readonly redis: Redis;
  private digests: ReadonlyMap<ScriptName, string> = new Map();

  constructor(redis: Redis) {
    this.redis = redis;
  }

  /** Loads the scripts after each connect: a retry of an unknown script would run after later commands. */
  async load(): Promise<void> {
    this.term++;
    const names = Object.keys(sources) as ScriptName[];
    const digests = await Promise.all(names.map((name) => this.redis.script("LOAD", sources[name]) as Promise<string>));
    this.digests = new Map(names.map((name, index) => [name, digests[index] as string]));
  }

  async run(name: ScriptName, brokerId: string, values: readonly ScriptArgument[] = []): Promise<Reply> {
    const digest = this.digests.get(name) ?? "";
    try {
      // Not as arguments of a call, whose number the stack limits: a message may be for tens of thousands of sessions.
      const command = new Command("EVALSHA", [digest, 0, keyPrefix, brokerId, ...values], { replyEncoding: null });
      return (await this.redis.sendCommand(command)) as Reply;
    } catch (error) {
      throw new Error(errorText(error).replace(placeInScript, ""), { cause: error });
    }
  }
}

/** What Redis adds to the error of a script. */
const placeInScript = /\.? script: [0-9a-f]+, on @user_script:\d+\.?$/;

export const replyText = (reply: Reply | undefined): string => (Buffer.isBuffer(reply) ? reply.toString("utf8") : "");
export const replyList = (reply: Reply | undefined): readonly Reply[] => (Array.isArray(reply) ? reply : []);
