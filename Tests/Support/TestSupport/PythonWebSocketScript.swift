/// The script of `PythonWebSocketClient`: it reads one command per line and writes one answer per line.
let pythonWebSocketScript = #"""
    import asyncio, base64, json, ssl, sys
    import websockets

    def closed(connection):
        return {"closed": connection.close_code, "reason": connection.close_reason or ""}

    async def connect(command):
        compression = "deflate" if command["compression"] else None
        options = {"compression": compression, "open_timeout": 15, "ping_interval": None, "max_size": 2 ** 24}
        if "authority" in command:
            options["ssl"] = ssl.create_default_context(cafile=command["authority"])
        if "unix" in command:
            return await websockets.unix_connect(command["unix"], command["uri"], **options)
        return await websockets.connect(command["uri"], **options)

    async def run(connection, command):
        op = command["op"]
        if op == "send":
            text = command.get("text")
            await connection.send(base64.b64decode(command["binary"]) if text is None else text)
            return {}
        if op == "ping":
            await (await connection.ping())
            return {}
        if op == "close":
            await connection.close(command["code"], command["reason"])
            return closed(connection)
        message = await asyncio.wait_for(connection.recv(), command["seconds"])
        if isinstance(message, str):
            return {"text": message}
        return {"binary": base64.b64encode(message).decode()}

    async def main():
        connection = None
        loop = asyncio.get_running_loop()
        while True:
            line = await loop.run_in_executor(None, sys.stdin.readline)
            if not line:
                return
            command = json.loads(line)
            try:
                if command["op"] == "connect":
                    connection = await connect(command)
                    answer = {}
                else:
                    answer = await run(connection, command)
            except websockets.exceptions.ConnectionClosed:
                answer = closed(connection)
                if command["op"] not in ("receive", "close"):
                    answer = {"error": "closed: %s" % answer}
            except asyncio.TimeoutError:
                answer = {"timeout": True}
            except websockets.exceptions.InvalidStatusCode as refused:
                answer = {"refused": refused.status_code, "headers": list(refused.headers.raw_items())}
            except Exception as error:
                answer = {"error": "%s: %s" % (type(error).__name__, error)}
            print(json.dumps(answer), flush=True)

    asyncio.run(main())
    """#
