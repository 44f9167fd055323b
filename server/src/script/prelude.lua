-- What scripts find in their world, and what keeps them from changing it for others.
--
-- Tables that all scripts share are shown through empty ones that stand for them: reading goes on
-- to the table behind, writing is refused. The functions that would see the difference know about it.
--
-- It is called with the functions that the host provides.
local host = ...

local assert, error, next, pairs, rawget, rawset, select, tonumber, tostring, type =
    assert, error, next, pairs, rawget, rawset, select, tonumber, tostring, type
local raw_pcall, raw_xpcall = host.pcall, host.xpcall
local raw_getmetatable, raw_setmetatable = getmetatable, setmetatable
local raw_loadstring, raw_resume = loadstring, coroutine.resume
local raw_collectgarbage = collectgarbage
local byte, concat, raw_insert = string.byte, table.concat, table.insert

-- What each table stands for that is shown in place of another, and the other way round.
local behind, shown = {}, {}
-- The metatables that scripts see of such tables.
local metatables = {}

local function protect(real)
    local front = {}
    behind[front], shown[real] = real, front
    return raw_setmetatable(front, { __index = real, __newindex = host.refuse })
end

-- What a caught error is to the script.
local function caught(err)
    if type(err) == 'userdata' then
        return host.caught(err)
    end
    return err
end

-- Raises that the first of the arguments is of another type than it should be.
local function unexpected(name, wanted, ...)
    local found = select('#', ...) == 0 and 'no value' or type((...))
    host.bad_argument(1, name, wanted .. ' expected, got ' .. found)
end

-- Insists on arguments from the second on, which may be nil.
local function expect_count(count, name, ...)
    local found = select('#', ...)
    if found < count then
        host.bad_argument(found + 1, name, 'value expected')
    end
end

-- An error that is a table is given as its text, as it was before errors were tables.
local function settle(ok, ...)
    if ok then
        return true, ...
    end
    local err = caught((...))
    if type(err) == 'table' then
        local text = err.err
        if type(text) == 'string' or type(text) == 'number' then
            return false, text
        end
        return false, err, text
    end
    return false, err
end

local function settle_as_is(ok, ...)
    if ok then
        return true, ...
    end
    host.check()
    return false, caught((...))
end

function pcall(...)
    if select('#', ...) == 0 then
        return false, 'attempt to call a boolean value'
    end
    return settle(raw_pcall(...))
end

function xpcall(...)
    if select('#', ...) < 2 then
        host.bad_argument(2, 'xpcall', 'value expected')
    end
    local f, handler = ...
    return settle_as_is(raw_xpcall(f, function(err)
        -- Nothing looks after a handler while one that looked has raised an error.
        if host.is_killed() then
            return err
        end
        return handler(caught(err))
    end))
end

function coroutine.resume(...)
    if type((...)) ~= 'thread' then
        host.bad_argument(1, 'resume', 'coroutine expected')
    end
    return settle_as_is(raw_resume(...))
end

-- Code is always text: what was compiled is not to be trusted.
local function compile(code, name)
    if byte(code, 1) == 27 then
        code = ' ' .. code
    end
    return raw_loadstring(code, name)
end

function loadstring(...)
    local code, name = ...
    if type(code) == 'number' then
        code = tostring(code)
    elseif type(code) ~= 'string' then
        unexpected('loadstring', 'string', ...)
    end
    return compile(code, name or code)
end

function load(...)
    local read, name = ...
    if type(read) ~= 'function' then
        unexpected('load', 'function', ...)
    end
    local pieces = {}
    while true do
        local ok, piece = raw_pcall(read)
        if not ok then
            return nil, caught(piece)
        end
        if piece == nil or piece == '' then
            return compile(concat(pieces), name or '=(load)')
        end
        if type(piece) ~= 'string' and type(piece) ~= 'number' then
            return nil, 'reader function must return a string'
        end
        pieces[#pieces + 1] = piece
    end
end

function getmetatable(value)
    if behind[value] then
        return metatables[value]
    end
    local meta = raw_getmetatable(value)
    return shown[meta] or meta
end

function setmetatable(...)
    local value, meta = ...
    if type(value) ~= 'table' then
        unexpected('setmetatable', 'table', ...)
    end
    if behind[value] then
        host.refuse_plainly()
    end
    if type(meta) ~= 'table' and (meta ~= nil or select('#', ...) < 2) then
        host.bad_argument(2, 'setmetatable', 'nil or table expected')
    end
    if raw_getmetatable(value) ~= nil and not raw_pcall(raw_setmetatable, value, meta) then
        host.at_caller('cannot change a protected metatable')
    end
    return raw_setmetatable(value, behind[meta] or meta)
end

local function shown_next(...)
    local value, key = ...
    if type(value) ~= 'table' then
        unexpected('next', 'table', ...)
    end
    return next(behind[value] or value, key)
end

_G.next = shown_next

function _G.pairs(...)
    local value = ...
    if behind[value] then
        return shown_next, value, nil
    end
    if type(value) ~= 'table' then
        unexpected('pairs', 'table', ...)
    end
    return next, value, nil
end

function _G.rawget(...)
    local value, key = ...
    if type(value) ~= 'table' then
        unexpected('rawget', 'table', ...)
    end
    expect_count(2, 'rawget', ...)
    return rawget(behind[value] or value, key)
end

function _G.rawset(...)
    local value, key, to = ...
    if type(value) ~= 'table' then
        unexpected('rawset', 'table', ...)
    end
    expect_count(3, 'rawset', ...)
    if behind[value] then
        host.refuse_plainly()
    end
    return rawset(value, key, to)
end

-- Lua's own writes past a metatable.
function table.insert(...)
    local value, position = ...
    local count = select('#', ...)
    if type(value) ~= 'table' then
        unexpected('insert', 'table', ...)
    elseif count ~= 2 and count ~= 3 then
        host.at_caller("wrong number of arguments to 'insert'")
    elseif count == 3 and not tonumber(position) then
        host.bad_argument(2, 'insert', 'number expected, got ' .. type(position))
    elseif behind[value] then
        host.refuse_plainly()
    end
    raw_insert(...)
end

-- The pace of collecting belongs to the server.
local paces = { stop = 0, restart = 0, setpause = 200, setstepmul = 200 }
local collects = { collect = true, count = true, step = true }

function collectgarbage(what, ...)
    if what ~= nil and not collects[what] then
        if not paces[what] then
            local why = "invalid option '" .. tostring(what) .. "'"
            host.bad_argument(1, 'collectgarbage', why)
        end
        return paces[what]
    end
    return raw_collectgarbage(what, ...)
end

-- Errors end up here on their way to the caller of a script: a table, and where it was raised.
local function placed(err, source, line)
    if type(err) == 'userdata' then
        local is_memory
        err, is_memory = host.ended(err)
        if is_memory then
            return err
        end
    end
    if type(err) ~= 'table' then
        err = { err = 'ERR ' .. tostring(err) }
    end
    if source then
        err.source = source
        err.line = line
    end
    return err
end

-- Called by Lua, right above who raised the error.
local function handle(err)
    return placed(err, host.origin(2))
end

-- The same for scripts, whose handlers are called through another function, which ended by that.
function __server__err__handler(err)
    return placed(err, host.origin(3))
end

__redis__err__handler = __server__err__handler

for _, name in pairs(host.absent) do
    _G[name] = nil
end
os = { clock = os.clock }
math.random, math.randomseed = host.random, host.randomseed
unpack = host.unpack
for name, library in pairs(host.libraries) do
    _G[name] = library
end
local server = host.server
_G.server, _G.redis = server, server

-- Everything that was global moves behind the one table that scripts know as `_G`.
local front, globals = _G, {}
for name, value in pairs(front) do
    if type(value) == 'table' and value ~= front then
        value = shown[value] or protect(value)
    end
    globals[name] = value
end
for name in pairs(globals) do
    front[name] = nil
end
globals._G = front
behind[front], shown[globals] = globals, front
local meta = { __index = host.missing }
raw_setmetatable(globals, meta)
metatables[front] = protect(meta)
raw_setmetatable(front, { __index = globals, __newindex = host.refuse })

-- A string's methods are found without a detour; only its metatable is shown in place of the real one.
shown[raw_getmetatable('')] = protect({ __index = globals.string })

return {
    server = server,
    next = next,
    globals = globals,
    handle = handle,
    compile = function(code)
        return compile(code, '@user_script')
    end,
}
