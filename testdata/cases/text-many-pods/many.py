import copy, json, sys
pod = json.load(sys.stdin)
pods = [pod] + [copy.deepcopy(pod) for _ in range(int(sys.argv[1]) - 1)]
for n, idle in enumerate(pods[1:]):
    idle["metadata"]["name"] = "idle-%d" % n
json.dump({"apiVersion": "v1", "kind": "List", "items": pods}, sys.stdout)
