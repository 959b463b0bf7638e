import FormStreamTransfer

let form = Form { Part.file("photo", "sunset.jpg") }
let response = try await TransferSession().post("http://127.0.0.1:8080/", form: form)
print(response.status, response.text)
