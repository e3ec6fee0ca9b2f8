-- POST /api/echo with a JSON document of exactly 1 KiB
local head = '{"id":12345,"name":"echo test","ok":true,"tags":["a","b"],"text":"'
local tail = '"}'
wrk.method = "POST"
wrk.body = head .. string.rep("x", 1024 - #head - #tail) .. tail
wrk.headers["Content-Type"] = "application/json"
